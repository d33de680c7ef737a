/** One timer for many deadlines. It keeps no process alive: whatever is waited for does. */

export class DeadlineTimer {
  readonly #expire: (now: number) => number;
  #timer: NodeJS.Timeout | null = null;
  #at = Infinity;

  /** @param expire called when the earliest deadline is over; returns the next one, on the clock of `performance.now` */
  constructor(expire: (now: number) => number) {
    this.#expire = expire;
  }

  /** Has `expire` called by then. */
  by(deadline: number): void {
    if (deadline >= this.#at) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#at = deadline;
    const waitMs = Math.max(0, Math.ceil(deadline - performance.now()));
    this.#timer = setTimeout(() => {
      this.#at = Infinity;
      this.by(this.#expire(performance.now()));
    }, waitMs).unref();
  }
}
