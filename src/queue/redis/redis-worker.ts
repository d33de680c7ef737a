/** Takes sessions from the queue on Redis and hands them to the handler, and can be closed whatever Redis does. */
import { Worker as BullWorker } from "bullmq";
import { Redis } from "ioredis";
import { Wake } from "../../db/wake.ts";
import { SessionId } from "../../events/ids.ts";
import type { Logger } from "../../logger.ts";
import type { SessionHandler } from "../queue.ts";
import { redisOptions } from "./redis-options.ts";
import { warnSeldom } from "./warn-seldom.ts";

export interface RedisWorkerOptions {
  readonly url: string;
  readonly prefix: string;
  readonly name: string;
  readonly concurrency: number;
  readonly handler: SessionHandler;
  readonly logger: Logger;
  /** Told when the handler fails. */
  readonly onError: (error: unknown) => void;
  readonly isReachable: () => boolean;
}

export interface RedisWorker {
  /** Takes no more sessions and waits for those in hand; then a Redis that is there has 2 s to hear of it. */
  close(): Promise<void>;
}

/** A job whose worker is silent for so long is another's. A slice takes a second; locks in Postgres keep two apart. */
const LOCK_MS = 10_000;
/** How often such jobs are looked for. */
const STALLED_LOOK_MS = 5_000;
/** A ring for a session is not given up because many a worker died over it. */
const MAX_STALLS = 1_000;
/** Longest wait for a ring before the connection is used again; a process may take this long to end without Redis. */
const BLOCK_SECONDS = 1;
/** A connection on which nothing comes for so long while something is due is dead. */
const SILENCE_MS = 15_000;
const RETRY_MS = 500;
/** How long the jobs that were in hand may take to be settled. */
const CLOSE_MS = 2_000;

/** Returns at once; it connects in the background. */
export function startRedisWorker(options: RedisWorkerOptions): RedisWorker {
  const { url, prefix, name, concurrency, logger, isReachable } = options;
  const client = new Redis(url, {
    ...redisOptions,
    maxRetriesPerRequest: null,
    socketTimeout: SILENCE_MS,
  });
  // Each connection that BullMQ makes is told of below; the link tells of the outage.
  client.on("error", () => undefined);
  const inHand = new InHand(options);
  const worker = new BullWorker<unknown>(
    name,
    (job) => inHand.take(job.id, job.data),
    {
      prefix,
      connection: client,
      concurrency,
      skipVersionCheck: true,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_LOOK_MS,
      maxStalledCount: MAX_STALLS,
      drainDelay: BLOCK_SECONDS,
      runRetryDelay: RETRY_MS,
    },
  );
  const warn = warnSeldom(
    logger,
    "redis refused to settle a job; its fold stands",
  );
  worker.on("completed", (job) => inHand.settle(job.id));
  worker.on("failed", (job) => inHand.settle(job?.id));
  worker.on("error", (error) => {
    if (isReachable() && !isOfConnection(error)) warn(error);
  });
  return {
    // Forced, since an unforced close waits for Redis without an end, and can't be forced afterwards.
    async close() {
      await worker.pause(true);
      await inHand.untilEmpty();
      if (isReachable()) await inHand.untilSettled(CLOSE_MS);
      inHand.refuse();
      await worker.close(true);
      client.disconnect();
    },
  };
}

/** The sessions that are being handled, and the jobs that Redis has not been told the end of. */
class InHand {
  readonly #options: RedisWorkerOptions;
  readonly #inHand = new Set<Promise<void>>();
  /** By job id. What Redis refused to settle stays here, and makes closing wait for nothing. */
  readonly #unsettled = new Set<string | undefined>();
  readonly #settled = new Wake();
  #isClosed = false;

  constructor(options: RedisWorkerOptions) {
    this.#options = options;
  }

  /** Never rejects for the handler: what failed is known in Postgres, and swept. */
  async take(jobId: string | undefined, data: unknown): Promise<void> {
    if (this.#isClosed) throw new Error("the queue is closed");
    this.#unsettled.add(jobId);
    const job = this.#handle(data).finally(() => this.#inHand.delete(job));
    this.#inHand.add(job);
    await job;
  }

  refuse(): void {
    this.#isClosed = true;
  }

  async untilEmpty(): Promise<void> {
    while (this.#inHand.size > 0) await Promise.all(this.#inHand);
  }

  settle(jobId: string | undefined): void {
    this.#unsettled.delete(jobId);
    this.#settled.ring();
  }

  async untilSettled(timeoutMs: number): Promise<void> {
    const until = performance.now() + timeoutMs;
    while (this.#unsettled.size > 0 && performance.now() < until)
      await this.#settled.wait(until - performance.now());
  }

  async #handle(data: unknown): Promise<void> {
    try {
      await this.#options.handler(sessionIdOf(data));
    } catch (error) {
      this.#options.onError(error);
    }
  }
}

function sessionIdOf(data: unknown): SessionId {
  const isBell =
    typeof data === "object" && data !== null && "sessionId" in data;
  return SessionId(isBell ? String(data.sessionId) : "");
}

/** A connection that is lost is the link's to tell of; what is left is a job that Redis forgot, or a refusal. */
function isOfConnection(error: Error): boolean {
  return (
    error.message === "Connection is closed." ||
    ("code" in error && typeof error.code === "string")
  );
}
