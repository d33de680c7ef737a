/** Says that a writer is alive, again and again, for as long as it is open. */
import type { Queryable } from "../db/connect.ts";
import {
  SessionDeletedError,
  StoreClosedError,
  WriterFencedError,
} from "../errors.ts";
import { keepHold, type Hold } from "./hold.ts";

/** Beats in the time of a hold: one or two may get lost. */
const BEATS = 3;

export interface Heartbeat {
  stop(): void;
}

/** @param onLost called once the writer is fenced off, or its session or its store is gone */
export function startHeartbeat(
  db: Queryable,
  hold: Hold,
  holdMs: number,
  onLost: (error: Error) => void,
): Heartbeat {
  const { sessionId } = hold;
  let isBeating = false;
  const beat = async (): Promise<void> => {
    if (isBeating) return;
    isBeating = true;
    try {
      const epoch = await keepHold(db, hold, holdMs);
      if (epoch === null) onLost(new SessionDeletedError({ sessionId }));
      else if (epoch !== hold.epoch)
        onLost(new WriterFencedError({ sessionId, epoch }));
    } catch (error) {
      // Any other beat that fails tells nothing of the hold: the next one, or the next append, does.
      if (error instanceof StoreClosedError) onLost(error);
    } finally {
      isBeating = false;
    }
  };
  const timer = setInterval(() => void beat(), Math.max(1, holdMs / BEATS));
  // An idle writer keeps no process alive.
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
