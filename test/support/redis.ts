/** Redis for a test file: the shared one under a prefix of the file's own, or servers that it may break. */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, inject } from "vitest";
import { startRedisServer, type RedisServer } from "./redis-server.ts";

/** Whether there is a Redis at all; the run's first lines say why not. */
export const hasRedis = inject("redisUrl") !== null;
/** Whether servers can be started that a test may kill. */
export const hasRedisServer = inject("redisProgram") !== null;

/** The run's Redis, which must be left as it is. */
export function sharedRedisUrl(): string {
  return inject("redisUrl") ?? "";
}

/** A server that is the caller's alone. */
export function privateRedis(): Promise<RedisServer> {
  return startRedisServer(inject("redisProgram") ?? "");
}

/** A prefix of the file's own in the shared Redis; its keys are removed after the file's tests. */
export function useRedisPrefix(): string {
  const prefix = `turnlog-test-${randomUUID()}`;
  afterAll(async () => {
    if (!hasRedis) return;
    const client = new Redis(sharedRedisUrl());
    for await (const keys of client.scanStream({ match: `${prefix}:*` }))
      if (keys.length > 0) await client.unlink(keys);
    client.disconnect();
  });
  return prefix;
}
