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
  /** Resolves when no beat is under way any more: one that came after a release would hold the session again. */
  stop(): Promise<void>;
}

/** @param onLost called once the writer is fenced off, or its session or its store is gone */
export function startHeartbeat(
  db: Queryable,
  hold: Hold,
  holdMs: number,
  onLost: (error: Error) => void,
): Heartbeat {
  const { sessionId } = hold;
  let beating: Promise<void> | null = null;
  const beat = async (): Promise<void> => {
    try {
      const epoch = await keepHold(db, hold, holdMs);
      if (epoch === null) onLost(new SessionDeletedError({ sessionId }));
      else if (epoch !== hold.epoch)
        onLost(new WriterFencedError({ sessionId, epoch }));
    } catch (error) {
      // Any other beat that fails tells nothing of the hold: the next one, or the next append, does.
      if (error instanceof StoreClosedError) onLost(error);
    } finally {
      beating = null;
    }
  };
  const timer = setInterval(
    () => void (beating ??= beat()),
    Math.max(1, holdMs / BEATS),
  );
  // An idle writer keeps no process alive.
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await beating;
    },
  };
}
