/**
 * The queue on Redis, by BullMQ: a job is a doorbell and carries the session id. Rings for a session coalesce: while a
 * job waits, another ring adds nothing; while it is worked on, a ring makes one more job that follows it. Redis may
 * lose all of it at any time, since what there is to do stands in Postgres.
 */
import { Queue as BullQueue, type BulkJobOptions } from "bullmq";
import { ReplyError } from "ioredis";
import { QueueUnavailableError } from "../../errors.ts";
import type { SessionId } from "../../events/ids.ts";
import type { Logger } from "../../logger.ts";
import type { Queue } from "../queue.ts";
import { openRedisLink } from "./redis-link.ts";
import { warnSeldom } from "./warn-seldom.ts";
import { startRedisWorker, type RedisWorker } from "./redis-worker.ts";

export interface RedisQueueOptions {
  readonly url: string;
  /** First part of every key. */
  readonly prefix: string;
  /** Second part: one for each store, without colons. */
  readonly name: string;
  readonly logger: Logger;
  /** Told when a handler fails; the queue goes on. */
  readonly onError: (error: unknown) => void;
}

export interface RedisQueue extends Queue {
  readonly isReachable: () => boolean;
}

/** BullMQ keeps a log of its events, which nobody reads. */
const EVENT_LOG_LENGTH = 100;
/** Nothing fails but what stalled again and again; enough is kept to look at. */
const KEPT_FAILURES = { count: 100, age: 86_400 };

/** Connects in the background: it can be made while Redis is away. */
export function createRedisQueue(options: RedisQueueOptions): RedisQueue {
  const { url, prefix, name, logger } = options;
  const link = openRedisLink({
    url,
    aliveKey: `${prefix}:${name}:alive`,
    logger,
  });
  const bells = new BullQueue(name, {
    prefix,
    connection: link.client,
    skipVersionCheck: true,
    streams: { events: { maxLen: EVENT_LOG_LENGTH } },
  });
  const warn = warnSeldom(logger, "redis refused a ring");
  // The link has told of it already.
  bells.on("error", () => undefined);
  const workers: RedisWorker[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => worker.close()));
    link.close();
    await bells.close();
  };
  return {
    async ring(sessionIds) {
      if (sessionIds.length === 0) return;
      if (!link.isReachable()) throw new QueueUnavailableError("Redis is away");
      try {
        await bells.addBulk(sessionIds.map(bell));
      } catch (error) {
        if (error instanceof ReplyError) warn(error);
        else link.giveUp(error);
        throw new QueueUnavailableError(messageOf(error), { cause: error });
      }
    },
    run(handler, { concurrency }) {
      const { isReachable } = link;
      workers.push(
        startRedisWorker({ ...options, handler, concurrency, isReachable }),
      );
    },
    isReachable: link.isReachable,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A session id may be any text. It is no job's id, which BullMQ restricts, but a part of a key after a fixed one. */
function bell(sessionId: SessionId): {
  name: string;
  data: { readonly sessionId: string };
  opts: BulkJobOptions;
} {
  return {
    name: "ring",
    data: { sessionId },
    opts: {
      deduplication: { id: sessionId, keepLastIfActive: true },
      removeOnComplete: true,
      removeOnFail: KEPT_FAILURES,
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
