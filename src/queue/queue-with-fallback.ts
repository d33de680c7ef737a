/**
 * Two queues as one: the main one, and one that is always there. What the main one can't be rung for is rung for at the
 * other. Sessions are taken from both, into hands that they share: the fallback takes none while the main one keeps all
 * hands full, or both would work through the same backlog.
 */
import { QueueUnavailableError } from "../errors.ts";
import type { Queue, SessionHandler } from "./queue.ts";

/** @param openFallback is given the number of sessions that may be taken now */
export function queueWithFallback(
  main: Queue,
  openFallback: (freeHands: () => number) => Queue,
): Queue {
  const hands = new SharedHands();
  const fallback = openFallback(() => hands.free);
  const close = async (): Promise<void> => {
    await Promise.all([main.close(), fallback.close()]);
  };
  return {
    async ring(sessionIds) {
      try {
        await main.ring(sessionIds);
      } catch (error) {
        if (!(error instanceof QueueUnavailableError)) throw error;
        await fallback.ring(sessionIds);
      }
    },
    run(handler, { concurrency }) {
      const shared = hands.for(handler, concurrency);
      main.run(shared, { concurrency });
      fallback.run(shared, { concurrency });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

class SharedHands {
  free = 0;
  readonly #waiting: (() => void)[] = [];

  /** The handler, with so many sessions at a time; the others wait for their turn. */
  for(handler: SessionHandler, count: number): SessionHandler {
    this.free = count;
    return async (sessionId) => {
      if (this.free > 0) this.free -= 1;
      else
        await new Promise<void>((resolve) => {
          this.#waiting.push(resolve);
        });
      try {
        await handler(sessionId);
      } finally {
        const next = this.#waiting.shift();
        if (next === undefined) this.free += 1;
        else next();
      }
    };
  }
}
