/** Sends until the server answers: each try is the same append, so it is stored once at most. */
import { setTimeout as sleep } from "node:timers/promises";
import { isTransient, wasNeverSent } from "../db/pg-errors.ts";
import {
  AppendOutcomeUnknownError,
  DatabaseUnavailableError,
  SessionBusyError,
} from "../errors.ts";
import type { AppendRequest } from "./append-request.ts";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * @param send one try, given the time that is left in ms
 * @throws AppendOutcomeUnknownError when the time is over and a try may have been stored; DatabaseUnavailableError when
 * none can have been; SessionBusyError when the session stayed locked
 */
export async function sendUntilAnswered<T>(
  request: AppendRequest,
  send: (leftMs: number) => Promise<T>,
): Promise<T> {
  const { sessionId, appendId } = request;
  const deadline = performance.now() + request.timeoutMs;
  let maybeStored = false;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    ;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  ) {
    try {
      return await send(Math.max(1, deadline - performance.now()));
    } catch (error) {
      const isLost = error instanceof DatabaseUnavailableError;
      if (!isLost && !isTransient(error)) throw error;
      maybeStored ||= isLost && !wasNeverSent(error);
      if (performance.now() + pauseMs < deadline) await sleep(pauseMs);
      else if (maybeStored)
        throw new AppendOutcomeUnknownError({
          sessionId,
          appendId,
          cause: error,
        });
      else if (isLost) throw error;
      else throw new SessionBusyError({ sessionId, cause: error });
    }
  }
}
