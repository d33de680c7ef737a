/** Sends until the server answers: each try is the same append, so it is stored once at most. */
import { setTimeout as sleep } from "node:timers/promises";
import { isTransient, wasNeverSent } from "../db/pg-errors.ts";
import {
  AppendOutcomeUnknownError,
  DatabaseUnavailableError,
  SessionBusyError,
  StoreClosedError,
} from "../errors.ts";
import type { AppendRequest } from "./append-request.ts";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/** An append on its way: until when it is tried, and what can be said of it if there is no answer by then. */
export class Sending {
  readonly #request: AppendRequest;
  /** On the clock of `performance.now`, in ms. */
  readonly deadline: number;
  #maybeStored = false;
  #trouble: unknown = null;

  constructor(request: AppendRequest) {
    this.#request = request;
    this.deadline = performance.now() + request.timeoutMs;
  }

  get leftMs(): number {
    return Math.max(1, this.deadline - performance.now());
  }

  /** The last error that may pass; null when none was met. */
  get trouble(): unknown {
    return this.#trouble;
  }

  /** Keeps what is learnt from an error. Returns whether it may pass, so that sending again makes sense. */
  note(error: unknown): boolean {
    const isLost = error instanceof DatabaseUnavailableError;
    if (!isLost && !isTransient(error)) return false;
    this.#maybeStored ||= isLost && !wasNeverSent(error);
    this.#trouble = error;
    return true;
  }

  /**
   * What to tell the caller at the deadline: AppendOutcomeUnknownError when a try may have been stored,
   * DatabaseUnavailableError when none can have been, SessionBusyError when the session stayed locked.
   * @param isSent whether a try is on its way
   * @param trouble what holds up the append before this one, where this one was never tried
   */
  atDeadline(isSent: boolean, trouble: unknown = null): Error {
    const { sessionId, appendId } = this.#request;
    const cause = this.#trouble ?? trouble;
    if (isSent || this.#maybeStored)
      return new AppendOutcomeUnknownError({ sessionId, appendId, cause });
    if (cause instanceof DatabaseUnavailableError) return cause;
    return new SessionBusyError({ sessionId, cause });
  }

  /** What to tell the caller of an error that will not pass. */
  atEnd(error: unknown): unknown {
    return error instanceof StoreClosedError && this.#maybeStored
      ? this.atDeadline(false)
      : error;
  }
}

/**
 * @param send one try, given the time that is left in ms
 * @throws what `atDeadline` says once the time is over, and every error that will not pass
 */
export async function sendUntilAnswered<T>(
  sending: Sending,
  send: (leftMs: number) => Promise<T>,
): Promise<T> {
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    if (sending.trouble !== null) {
      if (performance.now() + pauseMs >= sending.deadline)
        throw sending.atDeadline(false);
      await sleep(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    try {
      return await send(sending.leftMs);
    } catch (error) {
      if (!sending.note(error)) throw sending.atEnd(error);
    }
  }
}
