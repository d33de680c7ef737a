import { describe, expect, it } from "vitest";
import { turnlog } from "../support/command-line.ts";
import { useTestDatabase } from "../support/database.ts";
import { hasRedis, sharedRedisUrl } from "../support/redis.ts";

const database = useTestDatabase();
const NOWHERE = "redis://127.0.0.1:1";

const status = (redisUrl: string, ...args: readonly string[]) =>
  turnlog(["status", ...args], { databaseUrl: database().url, redisUrl });

describe("status", () => {
  it("says nothing of Redis where none is set", async () => {
    expect((await status("")).stdout).not.toContain("redis");
    expect(JSON.parse((await status("", "--json")).stdout)).toMatchObject({
      redis: null,
    });
  });

  it.runIf(hasRedis)("says that Redis can be reached", async () => {
    const url = sharedRedisUrl();

    expect((await status(url)).stdout).toMatch(/^redis +reachable$/m);
    expect(JSON.parse((await status(url, "--json")).stdout)).toMatchObject({
      redis: { isReachable: true, reason: null },
    });
  });

  it.runIf(hasRedis)("says that Redis has no such database", async () => {
    const url = new URL(sharedRedisUrl());
    url.pathname = "/99999";

    expect((await status(url.href)).stdout).toMatch(
      /^redis +not reachable from here \(.*out of range.*\)/m,
    );
  });

  it("says why Redis can't be reached, and shows the rest all the same", async () => {
    const { code, stdout } = await status(NOWHERE);

    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^redis +not reachable from here \(.*ECONNREFUSED.*\); projectors claim work from Postgres$/m,
    );
    expect(stdout).toMatch(/^work +0 sessions$/m);
    expect(JSON.parse((await status(NOWHERE, "--json")).stdout)).toMatchObject({
      redis: {
        isReachable: false,
        reason: expect.stringContaining("ECONNREFUSED"),
      },
    });
  });
});

describe("a malformed TURNLOG_REDIS_URL", () => {
  it.each([
    "localhost:6379",
    "http://localhost:6379",
    "redis:///0",
    "redis://localhost/abc",
    "redis://localhost/-1",
    "redis://:p%zz@localhost",
  ])("(%s) is refused by name at the start", async (url) => {
    const { code, stderr } = await status(url);

    expect(code).toBe(2);
    expect(stderr).toMatch(/TURNLOG_REDIS_URL: must be redis:/);
  });
});
