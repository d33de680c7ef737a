/** Tells the relay that something was appended: after the commit, many appends at once, and never in their way. */
import type { Db } from "../db/connect.ts";

/** Appends within this time share the first notification. */
const DEBOUNCE_MS = 5;

/**
 * Between two notifications: one wakes the relay up, and for longer than this it then looks by itself. A notification is a
 * statement and a commit more, so one in 5 ms costs a single writer a fifth of its speed.
 */
const PAUSE_MS = 50;

export class Doorbell {
  readonly #db: Db;
  #timer: NodeJS.Timeout | null = null;
  #rungAt = -Infinity;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Notifies soon. A lost notification costs the relay one poll. */
  ring(): void {
    if (this.#timer !== null) return;
    const pauseMs = this.#rungAt + PAUSE_MS - performance.now();
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#rungAt = performance.now();
        this.#db
          .rows({
            name: "turnlog_notify_outbox",
            text: "select pg_notify('turnlog_outbox', '')",
          })
          .catch(() => undefined);
      },
      Math.max(DEBOUNCE_MS, pauseMs),
    );
  }

  /** Drops what has not been sent. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
