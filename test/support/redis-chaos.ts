/** What can happen to a Redis, at random: flushed, killed and back empty, frozen, doorbells doubled and dropped. */
import { setTimeout as sleep } from "node:timers/promises";
import { Queue as BullQueue } from "bullmq";
import { Redis } from "ioredis";
import type { Db } from "../../src/db/connect.ts";
import { queueName } from "../../src/runtime/open-queue.ts";
import type { RedisServer } from "./redis-server.ts";

export interface ChaosPlan {
  readonly strokes: readonly Stroke[];
  /** Between two of them, in ms. */
  readonly everyMs: number;
  /** How long the server stays away when it is killed or frozen, in ms. */
  readonly awayMs: number;
  readonly prefix: string;
}

export const STROKES = [
  "restart",
  "double",
  "flush",
  "freeze",
  "drop",
] as const;

type Stroke = (typeof STROKES)[number];

/** Jobs that the store's workers and tests have put into Redis since it was last empty. */
export async function jobCount(
  server: RedisServer,
  db: Db,
  prefix: string,
): Promise<number> {
  const name = await queueName(db);
  let count = 0;
  await withClient(server, async (client) => {
    count = Number(await client.get(`${prefix}:${name}:id`));
  });
  return count;
}

/** Does one after the other; the server runs when it returns. */
export async function upsetRedis(
  server: RedisServer,
  db: Db,
  plan: ChaosPlan,
): Promise<void> {
  const name = await queueName(db);
  for (const stroke of plan.strokes) {
    await sleep(plan.everyMs);
    await strike(stroke, server, db, name, plan);
  }
}

async function strike(
  stroke: Stroke,
  server: RedisServer,
  db: Db,
  name: string,
  plan: ChaosPlan,
): Promise<void> {
  switch (stroke) {
    case "restart":
      await server.kill();
      await sleep(plan.awayMs);
      return server.restart();
    case "freeze":
      server.freeze();
      await sleep(plan.awayMs);
      return server.thaw();
    case "flush":
      return withClient(server, async (client) => {
        await client.flushall();
      });
    case "double":
      return doubleBells(server, db, name, plan.prefix);
    case "drop":
      return withBull(server, name, plan.prefix, (bells) => bells.drain());
  }
}

/** Rings for every session there is, past each coalescing: several jobs for one session at a time. */
function doubleBells(
  server: RedisServer,
  db: Db,
  name: string,
  prefix: string,
): Promise<void> {
  return withBull(server, name, prefix, async (bells) => {
    const rows = await db.rows<{ session_id: string }>({
      text: "select session_id from turnlog.sessions order by session_id",
    });
    const jobs = rows.map((row) => ({
      name: "ring",
      data: { sessionId: row.session_id },
      opts: { removeOnComplete: true },
    }));
    await bells.addBulk([...jobs, ...jobs]);
  });
}

function withBull(
  server: RedisServer,
  name: string,
  prefix: string,
  work: (bells: BullQueue) => Promise<void>,
): Promise<void> {
  return withClient(server, async (client) => {
    const bells = new BullQueue(name, { prefix, connection: client });
    await work(bells);
    await bells.close();
  });
}

async function withClient(
  server: RedisServer,
  work: (client: Redis) => Promise<void>,
): Promise<void> {
  const client = new Redis(server.url);
  try {
    await work(client);
  } finally {
    client.disconnect();
  }
}
