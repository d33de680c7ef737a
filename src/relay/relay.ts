/**
 * The relay: one of several leads, drains the outbox into feed and work, and rings the queue. It is woken by
 * appenders' notifications and polls in between; while it leads it sweeps what nobody came for, and looks session by
 * session for what no list knows of.
 */
import { randomUUID } from "node:crypto";
import type { Db } from "../db/connect.ts";
import { listen } from "../db/listen.ts";
import { Wake } from "../db/wake.ts";
import type { Logger } from "../logger.ts";
import type { Queue } from "../queue/queue.ts";
import { drainOutbox, hasOutbox } from "./drain.ts";
import { releaseLease, takeLease } from "./lease.ts";
import { reconcile } from "./reconcile.ts";
import { sweepWork } from "./sweep.ts";

export interface RelayOptions {
  readonly db: Db;
  readonly queue: Queue;
  readonly logger: Logger;
  /** How long a silent leader keeps the others waiting, in ms. */
  readonly ttlMs?: number;
  /** Pause between looks at the outbox when nobody notifies, in ms. */
  readonly pollMs?: number;
  /** Pause between two steps of the reconciler, in ms. */
  readonly reconcileMs?: number;
}

export interface Relay extends AsyncDisposable {
  /** Ends the loop after the drain in hand, and gives the lease up. */
  close(): Promise<void>;
}

const TTL_MS = 5_000;
const POLL_MS = 50;
/** Pause between looks while appends come in: appenders notify less often than that. */
const BUSY_POLL_MS = 10;
/** How long after a drain more is expected. */
const BUSY_MS = 250;
/** Pause of a relay that waits for the lease, or for the database. */
const STANDBY_MS = 500;
const SWEEP_MS = 1_000;
const DRAIN_LIMIT = 500;
const SWEEP_LIMIT = 500;
/** A step takes about 20 ms for six builds; a million sessions are seen once in an hour and a half. */
const RECONCILE_MS = 10_000;
const RECONCILE_SESSIONS = 2_000;

/** Starts the loop; returns at once. */
export function startRelay(options: RelayOptions): Relay {
  const loop = new RelayLoop(options);
  const listener = listen(options.db, "turnlog_outbox", loop.wake.ring);
  const done = loop.run();
  const close = async (): Promise<void> => {
    loop.stop();
    await Promise.all([done, listener.close()]);
  };
  return { close, [Symbol.asyncDispose]: close };
}

class RelayLoop {
  readonly wake = new Wake();
  readonly #holder = randomUUID();
  readonly #options: Required<RelayOptions>;
  #stopped = false;
  #fence: number | null = null;
  #renewAt = 0;
  #sweepAt = 0;
  #busyUntil = 0;
  #reconcileAt = 0;
  #reconciledTo = "";

  constructor(options: RelayOptions) {
    this.#options = {
      ttlMs: TTL_MS,
      pollMs: POLL_MS,
      reconcileMs: RECONCILE_MS,
      ...options,
    };
  }

  stop(): void {
    this.#stopped = true;
    this.wake.ring();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      const pauseMs = await this.#turn().catch((error: unknown) =>
        this.#failed(error),
      );
      if (pauseMs > 0) await this.wake.wait(pauseMs);
    }
    if (this.#fence !== null)
      await releaseLease(this.#options.db, this.#holder).catch(() => undefined);
  }

  /** One look around; returns how long to wait for a wake-up before the next. */
  async #turn(): Promise<number> {
    const { db, logger, ttlMs } = this.#options;
    if (this.#fence === null || performance.now() >= this.#renewAt)
      await this.#lead();
    if (this.#fence === null) return STANDBY_MS;
    if (performance.now() >= this.#sweepAt) await this.#sweep();
    if (performance.now() >= this.#reconcileAt) await this.#reconcile();
    if (!(await hasOutbox(db))) return this.#pollMs;
    const drained = await drainOutbox(db, {
      holder: this.#holder,
      fence: this.#fence,
      limit: DRAIN_LIMIT,
      ttlMs,
    });
    if (drained === null) {
      logger.warn({ holder: this.#holder }, "relay lost the lead");
      this.#fence = null;
      return 0;
    }
    this.#renewAt = performance.now() + ttlMs / 3;
    await this.#ring(drained.sessionIds);
    if (drained.appends === 0) return this.#pollMs;
    this.#busyUntil = performance.now() + BUSY_MS;
    return 0;
  }

  get #pollMs(): number {
    const { pollMs } = this.#options;
    return performance.now() < this.#busyUntil
      ? Math.min(pollMs, BUSY_POLL_MS)
      : pollMs;
  }

  async #lead(): Promise<void> {
    const { db, logger, ttlMs } = this.#options;
    const before = this.#fence;
    const startedAt = performance.now();
    this.#fence = await takeLease(db, this.#holder, ttlMs);
    this.#renewAt = startedAt + ttlMs / 3;
    if (this.#fence !== before) {
      logger.info(
        { holder: this.#holder, fence: this.#fence },
        this.#fence === null ? "relay stands by" : "relay leads",
      );
    }
  }

  async #sweep(): Promise<void> {
    this.#sweepAt = performance.now() + SWEEP_MS;
    await this.#ring(await sweepWork(this.#options.db, SWEEP_LIMIT));
  }

  async #reconcile(): Promise<void> {
    const { db, logger, reconcileMs } = this.#options;
    this.#reconcileAt = performance.now() + reconcileMs;
    const after = this.#reconciledTo;
    const { nextAfter, found } = await reconcile(db, after, RECONCILE_SESSIONS);
    this.#reconciledTo = nextAfter ?? "";
    if (found > 0)
      logger.warn(
        { sessions: found },
        "sessions were behind that no list knew of; they are on the work list now",
      );
  }

  /** A lost doorbell is found by the sweep, so a queue that is away must not stop the drains. */
  async #ring(sessionIds: Parameters<Queue["ring"]>[0]): Promise<void> {
    try {
      await this.#options.queue.ring(sessionIds);
    } catch (error) {
      this.#options.logger.warn(
        { err: error, sessions: sessionIds.length },
        "could not ring; the sweep will",
      );
    }
  }

  #failed(error: unknown): number {
    this.#options.logger.warn(
      { err: error },
      "relay could not work; it tries again",
    );
    this.#fence = null;
    return STANDBY_MS;
  }
}
