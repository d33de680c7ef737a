/** The queue that the settings ask for: on Postgres, or on Redis with Postgres behind it. */
import type { Config } from "../config.ts";
import type { Db } from "../db/connect.ts";
import type { Logger } from "../logger.ts";
import type { Projection } from "../projector/projection.ts";
import { createPostgresQueue } from "../queue/postgres/postgres-queue.ts";
import { queueWithFallback } from "../queue/queue-with-fallback.ts";
import type { Queue } from "../queue/queue.ts";

export interface Parts {
  readonly db: Db;
  readonly config: Config;
  readonly logger: Logger;
  /** @defaultValue the built-in ones */
  readonly projections?: readonly Projection[];
}

/** While Redis works, work that nobody came for after this long is claimed from Postgres: the sweep has rung by then. */
const OVERDUE_MS = 5_000;

/** Name of the driver, for the log. */
export function queueOf(config: Config): "postgres" | "redis" {
  return config.redisUrl === null ? "postgres" : "redis";
}

/** Trouble with the queue is logged and survived: the sweep finds what was not rung for. */
export async function openQueue({ db, config, logger }: Parts): Promise<Queue> {
  const onError = (error: unknown): void =>
    logger.warn(
      { err: error },
      "a session could not be taken up or folded; the sweep comes back to it",
    );
  const { redisUrl, redisPrefix } = config;
  if (redisUrl === null) return createPostgresQueue(db, onError);
  // Not before it is needed: the client library takes a while to load.
  const { createRedisQueue } = await import("../queue/redis/redis-queue.ts");
  const name = await queueName(db);
  const redis = createRedisQueue({
    url: redisUrl,
    prefix: redisPrefix,
    name,
    logger,
    onError,
  });
  return queueWithFallback(redis, (freeHands) =>
    createPostgresQueue(db, onError, {
      overdueMs: OVERDUE_MS,
      isNeeded: redis.isReachable,
      freeHands,
    }),
  );
}

/** One for each database: a copy has the same store id, but is another database of the server, or has another prefix. */
export async function queueName(db: Db): Promise<string> {
  const [store] = await db.rows<{ store_id: string; database: string }>({
    text: "select store_id::text as store_id, current_database()::text as database from turnlog.schema",
  });
  return encodeURIComponent(`${store?.store_id}/${store?.database}`);
}
