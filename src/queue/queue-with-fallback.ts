/**
 * Two queues as one: the main one, and one that is always there. What the main one can't be rung for is rung for at the
 * other, and sessions are taken from both.
 */
import { QueueUnavailableError } from "../errors.ts";
import type { Queue, SessionHandler } from "./queue.ts";

export function queueWithFallback(main: Queue, fallback: Queue): Queue {
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
      const shared = atMost(concurrency, handler);
      main.run(shared, { concurrency });
      fallback.run(shared, { concurrency });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lets so many sessions be handled at a time; the others wait for their turn. */
function atMost(limit: number, handler: SessionHandler): SessionHandler {
  let free = limit;
  const waiting: (() => void)[] = [];
  return async (sessionId) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      await handler(sessionId);
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
