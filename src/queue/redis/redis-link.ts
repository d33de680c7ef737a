/**
 * A connection to Redis that fails at once when Redis is away, and that knows whether it is: each second it writes a
 * key. One line is logged when an outage begins, and one when it is over.
 */
import { Redis } from "ioredis";
import type { Logger } from "../../logger.ts";
import { hastyOptions } from "./redis-options.ts";
import { serverWarnings } from "./server-warnings.ts";

export interface RedisLink {
  readonly client: Redis;
  /** The last write worked, and the connection has not ended since. */
  readonly isReachable: () => boolean;
  /** A command failed: Redis counts as away until a write works again over a new connection. */
  giveUp(error: unknown): void;
  close(): void;
}

export interface RedisLinkOptions {
  readonly url: string;
  /** The key that is written to see whether Redis works. */
  readonly aliveKey: string;
  readonly logger: Logger;
}

const LOOK_MS = 1_000;
/** The key goes by itself when nobody writes it any more. */
const ALIVE_MS = 60_000;

/** Connects in the background; returns at once. */
export function openRedisLink(options: RedisLinkOptions): RedisLink {
  const client = new Redis(options.url, hastyOptions);
  const watch = new Watch(client, options);
  client.on("error", watch.noteError);
  client.on("close", watch.wentAway);
  client.on("ready", watch.look);
  const timer = setInterval(watch.look, LOOK_MS);
  return {
    client,
    isReachable: () => watch.isUp && client.status === "ready",
    giveUp: watch.giveUp,
    close() {
      clearInterval(timer);
      watch.stop();
      client.disconnect();
    },
  };
}

/** Rejects when Redis takes no writes, or has no database of the number in the URL (it would use number 0 instead). */
export async function writeAlive(client: Redis, key: string): Promise<void> {
  await client.select(client.options.db ?? 0);
  await client.set(key, "1", "PX", ALIVE_MS);
}

class Watch {
  readonly #client: Redis;
  readonly #options: RedisLinkOptions;
  #isStopped = false;
  #isLooking = false;
  #awaySince: number | null = null;
  #lastError = "no answer";
  readonly #warned = new Set<string>();
  isUp = false;

  constructor(client: Redis, options: RedisLinkOptions) {
    this.#client = client;
    this.#options = options;
  }

  readonly look = (): void => {
    if (this.#isLooking || this.#isStopped) return;
    if (this.#client.status !== "ready") {
      this.wentAway();
      return;
    }
    this.#isLooking = true;
    writeAlive(this.#client, this.#options.aliveKey)
      .then(() => this.#cameBack(), this.giveUp)
      .finally(() => {
        this.#isLooking = false;
      });
  };

  readonly noteError = (error: unknown): void => {
    this.#lastError = error instanceof Error ? error.message : String(error);
  };

  /** A server that is full or was demoted answers, so the connection is given up, not waited for. */
  readonly giveUp = (error: unknown): void => {
    this.noteError(error);
    this.wentAway();
    if (!this.#isStopped) this.#client.disconnect(true);
  };

  readonly wentAway = (): void => {
    this.isUp = false;
    if (this.#isStopped || this.#awaySince !== null) return;
    this.#awaySince = performance.now();
    this.#options.logger.warn(
      { reason: this.#lastError },
      "redis is not reachable; appends and drains go on, and projectors claim work from Postgres meanwhile",
    );
  };

  stop(): void {
    this.#isStopped = true;
    this.isUp = false;
  }

  #cameBack(): void {
    if (this.#isStopped || this.isUp) return;
    this.isUp = true;
    const { logger } = this.#options;
    if (this.#awaySince === null) logger.info({}, "redis is reachable");
    else {
      const awayMs = Math.round(performance.now() - this.#awaySince);
      logger.info({ away_ms: awayMs }, "redis is reachable again");
    }
    this.#awaySince = null;
    this.#lastError = "the connection ended";
    void this.#warnAboutServer();
  }

  async #warnAboutServer(): Promise<void> {
    const info = await this.#client.info().catch(() => "");
    for (const warning of serverWarnings(info)) {
      if (!this.#warned.has(warning)) this.#options.logger.warn({}, warning);
      this.#warned.add(warning);
    }
  }
}
