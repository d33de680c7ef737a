import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { turnlog } from "../support/command-line.ts";

let cwd = "";
beforeAll(async () => {
  cwd = await newDirectory();
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

/** Where any user may look in, so that the server's own account can. */
async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "turnlog-demo-"));
  await chmod(directory, 0o755);
  return directory;
}

describe("the demo on a bare machine", () => {
  it("ends by itself and shows sessions, a transcript, tokens, titles and a lag of 0", async () => {
    const { code, stdout, stderr } = await turnlog(["demo"], { cwd });

    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /01-fix-failing-test\.jsonl +\w{8} +imported +866 +\d+ +\d+/,
    );
    expect(stdout).toMatch(/^assistant {2}.+→ bash/m);
    expect(stdout).toMatch(/example-ai\/sonar-large/);
    expect(stdout).toMatch(/Basket total is off by a cent \(2\) +user/);
    expect(stdout).toMatch(/^lag +0 events$/m);
  });

  it("works again after a kill -9 in the middle, and says that all is stored already", async () => {
    const killed = [];
    for (const killAfterMs of [250, 400, 550, 700])
      killed.push(await turnlog(["demo"], { cwd, killAfterMs }));
    const { code, stdout } = await turnlog(["demo"], { cwd });

    expect(killed[0]?.code).toBeNull();
    expect(code).toBe(0);
    expect(stdout).toMatch(/01-fix-failing-test\.jsonl +\w{8} +unchanged +866/);
    expect(stdout).toMatch(/^lag +0 events$/m);
  });

  it("works after a kill -9 in the middle of the very first run", async () => {
    const bare = await newDirectory();
    for (const killAfterMs of [500, 900, 1_300])
      await turnlog(["demo"], { cwd: bare, killAfterMs });

    const { code, stdout } = await turnlog(["demo", "--json"], { cwd: bare });
    await rm(bare, { recursive: true, force: true });

    expect(code).toBe(0);
    expect(JSON.parse(stdout).status).toMatchObject({
      sessions: 10,
      events: 8_822,
      outbox: { appends: 0, oldestMs: null },
      work: { sessions: 0 },
    });
  });

  it("leaves a store that the other commands read", async () => {
    const { code, stdout } = await turnlog(["sessions", "--json"], { cwd });

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toHaveLength(10);
  });
});
