/** Takes events for one session: in the order of the calls, each checked against the log with all before it. */
import { EventTooLargeError } from "../errors.ts";
import type { CheckedEvent } from "../events/envelope.ts";
import type { SessionId } from "../events/ids.ts";
import type { RulesState } from "../events/rules/rules.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import {
  checkBatch,
  placeEvents,
  requireKnownTypes,
  type PlacedEvent,
} from "../log/check-batch.ts";
import type { SizeLimits } from "../log/encode-append.ts";
import type { Taken } from "./batches.ts";
import type { WriterContext } from "./writer-settings.ts";

export class Intake {
  readonly #context: WriterContext;
  readonly #sessionId: SessionId;
  #state: RulesState;
  #nextSeq: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    context: WriterContext,
    sessionId: SessionId,
    head: number,
    state: RulesState,
  ) {
    this.#context = context;
    this.#sessionId = sessionId;
    this.#nextSeq = head;
    this.#state = state;
  }

  /** Seq of the next event. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Runs `work` when that of all earlier calls has ended. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  /**
   * Checks events that are to come next, without taking them.
   * @param store called first where the stored surface is needed: has everything stored that was taken
   * @throws EventInvalidError, EventTypeUnknownError, EventTooLargeError
   */
  async check(
    given: readonly CheckedEvent[],
    store: () => Promise<void>,
  ): Promise<Taken> {
    if (given.some(replaces)) await store();
    const { db, types, limits } = this.#context;
    const events = placeEvents(given, this.#nextSeq);
    await requireKnownTypes(types, events);
    const state = await checkBatch(db, {
      sessionId: this.#sessionId,
      firstSeq: this.#nextSeq,
      state: this.#state,
      items: events,
      allowFindings: false,
    });
    return { events, state, characters: measure(events, limits) };
  }

  /** Takes checked events. */
  take({ events, state }: Taken): void {
    this.#nextSeq += events.length;
    this.#state = state;
  }
}

function replaces({ surfaceOp }: CheckedEvent): boolean {
  return typeof surfaceOp === "object" && surfaceOp !== null;
}

/** Characters of JSON text; an event that is too large must not make the batch fail in which others stand. */
function measure(events: readonly PlacedEvent[], limits: SizeLimits): number {
  const { maxEventCharacters, maxAppendCharacters } = limits;
  const sizes = events.map(({ data }) => stringifyJson(data).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const index = sizes.findIndex((size) => size > maxEventCharacters);
  if (index !== -1)
    throw new EventTooLargeError({
      index,
      actual: sizes[index] ?? 0,
      limit: maxEventCharacters,
    });
  if (total > maxAppendCharacters)
    throw new EventTooLargeError({
      index: null,
      actual: total,
      limit: maxAppendCharacters,
    });
  return total;
}
