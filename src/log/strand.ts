/** The appends of one session in the order of their calls. One of them, or one chain, is on its way at a time. */
import type { SessionId } from "../events/ids.ts";
import type { PendingAppend } from "./pending-append.ts";

export class Strand {
  readonly sessionId: SessionId;
  #queue: PendingAppend[] = [];
  #inFlight: readonly PendingAppend[] = [];

  constructor(sessionId: SessionId) {
    this.sessionId = sessionId;
  }

  get queue(): readonly PendingAppend[] {
    return this.#queue;
  }

  add(pending: PendingAppend): void {
    this.#queue.push(pending);
  }

  /** Takes the first appends of the queue to be sent. */
  take(count: number): readonly PendingAppend[] {
    this.#inFlight = this.#queue.splice(0, count);
    return this.#inFlight;
  }

  /** Ends the flight. What it left unanswered is first in the queue again. */
  land(unanswered: readonly PendingAppend[]): void {
    this.#inFlight = [];
    if (unanswered.length > 0) this.#queue = [...unanswered, ...this.#queue];
  }

  /**
   * Tells the callers whose time is over. A queued append has not been sent and is forgotten; of one on its way in a chain
   * the outcome is unknown. One that goes by itself keeps its own time.
   */
  expire(now: number): void {
    const [first] = this.#inFlight;
    const trouble = first?.sending.trouble ?? null;
    for (const pending of this.#inFlight)
      if (!pending.isDirect && pending.sending.deadline <= now)
        pending.reject(pending.sending.atDeadline(true));
    const isOver = ({ sending }: PendingAppend): boolean =>
      sending.deadline <= now;
    for (const pending of this.#queue.filter(isOver))
      pending.reject(pending.sending.atDeadline(false, trouble));
    this.#queue = this.#queue.filter((pending) => !isOver(pending));
  }

  /** When `expire` is next of use; infinity when it is not. */
  nextDeadline(now: number): number {
    return [
      ...this.#inFlight.filter(({ isDirect }) => !isDirect),
      ...this.#queue,
    ]
      .map(({ sending }) => sending.deadline)
      .filter((deadline) => deadline > now)
      .reduce((first, deadline) => Math.min(first, deadline), Infinity);
  }
}
