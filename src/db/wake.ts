/** A wake-up that is remembered when it comes before somebody waits for it. */

export class Wake {
  #pending = false;
  #resolve: (() => void) | null = null;

  /** Wakes the waiter, or lets the next wait return at once. */
  readonly ring = (): void => {
    this.#pending = true;
    this.#resolve?.();
  };

  /** Returns when rung, or after `timeoutMs`. One waiter at a time. */
  async wait(timeoutMs: number): Promise<void> {
    if (!this.#pending) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#resolve = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#resolve = null;
    this.#pending = false;
  }
}
