/** Tells the relay that something was appended: after the commit, many appends at once, and never in their way. */
import type { Db } from "../db/connect.ts";

/** Appends within this time share one notification. */
const DEBOUNCE_MS = 5;

export class Doorbell {
  readonly #db: Db;
  #timer: NodeJS.Timeout | null = null;

  constructor(db: Db) {
    this.#db = db;
  }

  /** Notifies soon. A lost notification costs the relay one poll. */
  ring(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#db
        .rows({
          name: "turnlog_notify_outbox",
          text: "select pg_notify('turnlog_outbox', '')",
        })
        .catch(() => undefined);
    }, DEBOUNCE_MS);
  }

  /** Drops what has not been sent. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
