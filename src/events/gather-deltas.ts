/** Gathers a caller's deltas into runs as they are taken over: nearly all events of a log are deltas. */
import { memberOf, type DeltaRun } from "./delta-run.ts";
import type { CheckedEvent, UncheckedEvent } from "./envelope.ts";
import { MIN_RUN_EVENTS } from "./pack-runs.ts";
import { readPlainDelta, type PlainDelta } from "./plain-delta.ts";

export class DeltaGatherer {
  readonly #out: (CheckedEvent | DeltaRun)[];
  readonly #maxRunEvents: number;
  readonly #areFresh: boolean;
  #first: PlainDelta | null = null;
  #texts: string[] = [];
  #times: number[] = [];

  /**
   * @param out where runs go, and deltas too few for one
   * @param areFresh the events come from the JSON parser, so that they hold nothing that JSON does not
   */
  constructor(
    out: (CheckedEvent | DeltaRun)[],
    maxRunEvents: number,
    areFresh: boolean,
  ) {
    this.#out = out;
    this.#maxRunEvents = maxRunEvents;
    this.#areFresh = areFresh;
  }

  /** True for a plain delta, which is checked and taken over; any other event is left to the caller. */
  takes(event: UncheckedEvent): boolean {
    const delta = readPlainDelta(event, this.#areFresh);
    if (delta === null) return false;
    if (!this.#goesOn(delta)) {
      this.end();
      this.#first = delta;
    }
    this.#texts.push(delta.text);
    if (delta.time !== null) this.#times.push(delta.time);
    return true;
  }

  /** Puts out what is in hand; to be called before whatever comes after it. */
  end(): void {
    const first = this.#first;
    if (first === null) return;
    const run: DeltaRun = {
      type: first.tag,
      turn: first.turn,
      step: first.step,
      index: first.index,
      id: first.id,
      name: first.name,
      texts: this.#texts,
      times: first.time === null ? null : this.#times,
      givenSeq: first.seq,
    };
    if (run.texts.length >= MIN_RUN_EVENTS) this.#out.push(run);
    else run.texts.forEach((_, at) => this.#out.push(memberOf(run, at)));
    this.#first = null;
    this.#texts = [];
    this.#times = [];
  }

  #goesOn(delta: PlainDelta): boolean {
    const first = this.#first;
    const count = this.#texts.length;
    if (first === null || count >= this.#maxRunEvents) return false;
    const seq = first.seq === null ? null : first.seq + count;
    if (delta.seq !== seq || !isSameBlock(first, delta)) return false;
    if (delta.time === null || first.time === null)
      return delta.time === first.time;
    return Number.isSafeInteger(delta.time - (this.#times[count - 1] ?? 0));
  }
}

function isSameBlock(a: PlainDelta, b: PlainDelta): boolean {
  return (
    a.tag === b.tag &&
    a.turn === b.turn &&
    a.step === b.step &&
    a.index === b.index &&
    a.id === b.id &&
    a.name === b.name
  );
}
