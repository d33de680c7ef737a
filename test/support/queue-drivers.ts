/** Every driver of the queue, alone and with its fallback, over one database. */
import type { Db } from "../../src/db/connect.ts";
import { createPostgresQueue } from "../../src/queue/postgres/postgres-queue.ts";
import { queueWithFallback } from "../../src/queue/queue-with-fallback.ts";
import type { Queue } from "../../src/queue/queue.ts";
import {
  createRedisQueue,
  type RedisQueue,
} from "../../src/queue/redis/redis-queue.ts";
import { silentLogger, type Logger } from "../../src/logger.ts";
import { hasRedis, sharedRedisUrl } from "./redis.ts";
import { eventually } from "./relay-waiting.ts";

/** Where a queue's sessions come from, and who is told of failures. */
interface QueuePlace {
  readonly db: Db;
  readonly prefix: string;
  readonly store: string;
  readonly onError: (error: unknown) => void;
}

interface QueueDriver {
  readonly name: string;
  readonly isThere: boolean;
  /** A queue that is ready to be rung. */
  readonly open: (place: QueuePlace) => Promise<Queue>;
}

/** A Redis queue whose connection is up. */
export async function openRedisQueue(given: {
  readonly url: string;
  readonly prefix: string;
  readonly name?: string;
  readonly logger?: Logger;
  readonly onError?: (error: unknown) => void;
}): Promise<RedisQueue> {
  const queue = createRedisQueue({
    name: "store",
    logger: silentLogger,
    onError: () => undefined,
    ...given,
  });
  await untilReachable(queue);
  return queue;
}

export function untilReachable(queue: RedisQueue): Promise<void> {
  return eventually(() => {
    if (!queue.isReachable()) throw new Error("redis is away");
  });
}

const NEVER_MS = 3_600_000;

export const queueDrivers: readonly QueueDriver[] = [
  {
    name: "Postgres",
    isThere: true,
    open: ({ db, onError }) =>
      Promise.resolve(createPostgresQueue(db, onError)),
  },
  { name: "Redis", isThere: hasRedis, open: openShared },
  {
    name: "Redis with Postgres behind it",
    isThere: hasRedis,
    open: async (place) =>
      queueWithFallback(await openShared(place), (freeHands) =>
        createPostgresQueue(place.db, place.onError, {
          overdueMs: NEVER_MS,
          isNeeded: () => true,
          freeHands,
        }),
      ),
  },
];

function openShared({ prefix, store, onError }: QueuePlace): Promise<Queue> {
  const url = sharedRedisUrl();
  return openRedisQueue({ url, prefix, name: store, onError });
}
