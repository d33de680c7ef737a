/** How many calls of the coalescer are on their way at the same time, and how many of them may wait for locks. */

/** Further appends gather until one is back. */
const MAX_FLUSHES = 2;

/** A call that takes longer waits for a lock, or the server is slow: the next one need not wait for it. */
const SLOW_MS = 25;

export class CallSlots {
  readonly #maxWaiting: number;
  readonly #whenFree: () => void;
  #flushes = 0;
  #waiting = 0;

  /**
   * @param poolSize connections of the pool; half of them, where there are two, are left to calls that do not wait
   * @param whenFree called when another flush may go
   */
  constructor(poolSize: number, whenFree: () => void) {
    this.#maxWaiting = Math.max(1, Math.floor(poolSize / 2));
    this.#whenFree = whenFree;
  }

  get isFree(): boolean {
    return this.#flushes < MAX_FLUSHES;
  }

  /** Whether a connection may be spent on waiting for a lock. */
  get mayWait(): boolean {
    return this.#waiting < this.#maxWaiting;
  }

  /** Runs a flush. Its slot is free when it ends, or when it turns out to be slow. */
  async flush(run: () => Promise<void>): Promise<void> {
    let isSlow = false;
    this.#flushes += 1;
    const slow = setTimeout(() => {
      if (!this.mayWait) return;
      isSlow = true;
      this.#flushes -= 1;
      this.#waiting += 1;
      this.#whenFree();
    }, SLOW_MS);
    await run();
    clearTimeout(slow);
    if (isSlow) this.#waiting -= 1;
    else this.#flushes -= 1;
    this.#whenFree();
  }

  /** Runs what is expected to wait. */
  async wait(run: () => Promise<void>): Promise<void> {
    this.#waiting += 1;
    await run();
    this.#waiting -= 1;
  }
}
