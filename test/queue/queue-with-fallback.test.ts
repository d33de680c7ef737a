import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { SessionId } from "../../src/events/ids.ts";
import { silentLogger } from "../../src/logger.ts";
import {
  claimSessions,
  releaseSessions,
} from "../../src/queue/postgres/claim.ts";
import { createPostgresQueue } from "../../src/queue/postgres/postgres-queue.ts";
import { queueWithFallback } from "../../src/queue/queue-with-fallback.ts";
import type { Queue } from "../../src/queue/queue.ts";
import { openQueue } from "../../src/runtime/open-queue.ts";
import { openRedisQueue } from "../support/queue-drivers.ts";
import { useTestDatabase } from "../support/database.ts";
import type { RedisServer } from "../support/redis-server.ts";
import { hasRedisServer, privateRedis } from "../support/redis.ts";
import { eventually, gate } from "../support/relay-waiting.ts";

const database = useTestDatabase();
const NOWHERE = "redis://127.0.0.1:1";
let server: RedisServer;

beforeEach(async () => {
  await database().db.rows({ text: "delete from turnlog.work" });
  if (hasRedisServer) server = await privateRedis();
});
afterEach(async () => {
  if (hasRedisServer) await server[Symbol.asyncDispose]();
});

function queueTo(redisUrl: string): Promise<Queue> {
  return openQueue({
    db: database().db,
    config: readConfig({}, { TURNLOG_REDIS_URL: redisUrl }),
    logger: silentLogger,
  });
}

/** Work that has been claimable for so long; for a negative time it is claimed for as long. */
async function addWork(count: number, overdueSeconds: number) {
  const ids = Array.from({ length: count }, () => SessionId(randomUUID()));
  await database().db.rows(
    {
      text: `
        insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
        select id, 1, clock_timestamp(), clock_timestamp() - make_interval(secs => $2) from unnest($1::text[]) as id`,
    },
    [ids, overdueSeconds],
  );
  return ids;
}

function expectHandled(
  handled: readonly string[],
  ids: readonly string[],
): Promise<void> {
  return eventually(() =>
    expect([...new Set(handled)].toSorted()).toEqual(ids.toSorted()),
  );
}

describe("a claimer that leaves work to others at first", () => {
  it("takes what is overdue, and nothing younger", async () => {
    const { db } = database();
    const [late] = await addWork(1, 30);
    await addWork(1, 1);

    expect(await claimSessions(db, 10, 30_000, 10_000)).toEqual([late]);
    expect(await claimSessions(db, 10, 30_000, 10_000)).toEqual([]);
    expect(await claimSessions(db, 10, 30_000, 0)).toHaveLength(1);
  });

  it("takes what was rung for at once, however young it is", async () => {
    const { db } = database();
    const rung = [...(await addWork(1, 1)), ...(await addWork(1, -3_600))];
    await addWork(1, 1);

    await releaseSessions(db, rung, 10_000);

    expect((await claimSessions(db, 10, 30_000, 10_000)).toSorted()).toEqual(
      rung.toSorted(),
    );
  });
});

describe("a queue whose Redis was never there", () => {
  it("hands over new work, and work that is rung for though it is claimed", async () => {
    await using queue = await queueTo(NOWHERE);
    const handled: string[] = [];
    queue.run(
      (id) => {
        handled.push(id);
        return Promise.resolve();
      },
      { concurrency: 2 },
    );

    const fresh = await addWork(3, 0);
    const claimed = await addWork(3, -3_600);
    await queue.ring(claimed);

    await expectHandled(handled, [...fresh, ...claimed]);
  });
});

describe.runIf(hasRedisServer)("a queue whose Redis comes and goes", () => {
  it("goes on over Postgres while it is away, and over Redis when it is back", async () => {
    await using queue = await queueTo(server.url);
    const handled: string[] = [];
    queue.run(
      (id) => {
        handled.push(id);
        return Promise.resolve();
      },
      { concurrency: 2 },
    );
    const expected: string[] = [];
    const ringFor = async () => {
      const ids = await addWork(3, -3_600);
      await queue.ring(ids);
      expected.push(...ids);
      await expectHandled(handled, expected);
    };

    await ringFor();
    await server.kill();
    await ringFor();
    await server.restart();
    await ringFor();
    server.freeze();
    await ringFor();
    server.thaw();
    await ringFor();
  });

  it("takes up work whose ring was lost, though Redis is there", async () => {
    await using queue = await queueTo(server.url);
    const handled: string[] = [];
    queue.run(
      (id) => {
        handled.push(id);
        return Promise.resolve();
      },
      { concurrency: 2 },
    );

    const ids = await addWork(3, 60);

    await expectHandled(handled, ids);
  });

  it("has as many sessions in hand as it was told to, from both together", async () => {
    await using queue = await queueTo(server.url);
    const go = gate();
    const handled: string[] = [];
    let inHand = 0;
    let most = 0;
    const overdue = await addWork(6, 60);
    const rung = await addWork(6, -3_600);
    await queue.ring(rung);
    queue.run(
      async (id) => {
        inHand += 1;
        most = Math.max(most, inHand);
        await go.opened;
        inHand -= 1;
        handled.push(id);
      },
      { concurrency: 3 },
    );
    await eventually(() => expect(inHand).toBe(3));
    go.open();

    await expectHandled(handled, [...overdue, ...rung]);
    expect(most).toBe(3);
  });

  it("leaves overdue work alone while Redis keeps all hands full", async () => {
    const { db } = database();
    const redis = await openRedisQueue({ url: server.url, prefix: "full" });
    const asked: number[] = [];
    await using queue = queueWithFallback(redis, (freeHands) =>
      createPostgresQueue(db, undefined, {
        overdueMs: 0,
        isNeeded: () => false,
        freeHands() {
          asked.push(freeHands());
          return freeHands();
        },
      }),
    );
    const go = gate();
    const handled: string[] = [];
    const rung = await addWork(1, -3_600);
    queue.run(
      async (id) => {
        handled.push(id);
        await go.opened;
      },
      { concurrency: 1 },
    );
    await queue.ring(rung);
    await eventually(() => expect(handled).toEqual(rung));

    const overdue = await addWork(1, 60);
    const before = asked.length;
    await eventually(() => expect(asked.length).toBeGreaterThan(before + 2));
    expect(asked.slice(before + 1)).not.toContain(1);
    expect(handled).toEqual(rung);
    go.open();

    await expectHandled(handled, [...rung, ...overdue]);
  });
});
