/** What a writer has taken and not stored yet: batches in order, of which the last one still grows. */
import { randomUUID } from "node:crypto";
import { AppendId } from "../events/ids.ts";
import type { RulesState } from "../events/rules/rules.ts";
import type { PlacedEvent } from "../log/check-batch.ts";
import type { EncodedAppend } from "../log/encode-append.ts";

/** Events that are stored by one append. Whenever it is sent, it is sent with the same append id and the same bytes. */
export interface Batch {
  readonly appendId: AppendId;
  readonly firstSeq: number;
  readonly events: PlacedEvent[];
  /** After its last event. */
  state: RulesState;
  /** Of JSON text. */
  characters: number;
  /** Epoch ms for events without a time. */
  readonly now: number;
  /** On the clock of `performance.now`: when it is sent at the latest. */
  readonly dueAt: number;
  /** True when nothing is added to it any more. */
  isSealed: boolean;
  /** Made when it is sent first. */
  encoded: EncodedAppend | null;
}

/** Events checked together, and the state after them. */
export interface Taken {
  readonly events: readonly PlacedEvent[];
  readonly state: RulesState;
  readonly characters: number;
}

export interface BatchLimits {
  /** How long an event waits for others, in ms. */
  readonly maxDelayMs: number;
  readonly maxBatchEvents: number;
  /** Of JSON text; a larger event is a batch of its own. */
  readonly maxBatchCharacters: number;
}

/** How many full batches are taken before a write has to wait. */
const BUFFERED_BATCHES = 4;

export class Batches {
  readonly #limits: BatchLimits;
  readonly #queue: Batch[] = [];
  #events = 0;
  #characters = 0;

  constructor(limits: BatchLimits) {
    this.#limits = limits;
  }

  get first(): Batch | undefined {
    return this.#queue[0];
  }

  /** True while there is no room for a further event. */
  get isFull(): boolean {
    const { maxBatchEvents, maxBatchCharacters } = this.#limits;
    return (
      this.#events >= BUFFERED_BATCHES * maxBatchEvents ||
      this.#characters >= BUFFERED_BATCHES * maxBatchCharacters
    );
  }

  /** The batch of this append id. */
  find(appendId: AppendId): Batch | undefined {
    return this.#queue.find((batch) => batch.appendId === appendId);
  }

  /** Adds an event to the last batch, or begins a new one. */
  add(taken: Taken): void {
    const last = this.#queue.at(-1);
    const batch =
      last !== undefined && this.#fits(last, taken)
        ? last
        : this.#begin(taken, AppendId(randomUUID()));
    batch.events.push(...taken.events);
    batch.state = taken.state;
    batch.characters += taken.characters;
    batch.isSealed ||= this.#isLarge(batch);
    this.#events += taken.events.length;
    this.#characters += taken.characters;
  }

  /** Adds events as a batch of their own. */
  addAlone(taken: Taken, appendId: AppendId): void {
    const batch = this.#begin(taken, appendId);
    for (const event of taken.events) batch.events.push(event);
    batch.characters = taken.characters;
    batch.isSealed = true;
    this.#events += taken.events.length;
    this.#characters += taken.characters;
  }

  /** Takes the first batch away: it is stored. */
  shift(): void {
    const batch = this.#queue.shift();
    this.#events -= batch?.events.length ?? 0;
    this.#characters -= batch?.characters ?? 0;
  }

  #begin({ events, state }: Taken, appendId: AppendId): Batch {
    const before = this.#queue.at(-1);
    if (before !== undefined) before.isSealed = true;
    const batch: Batch = {
      appendId,
      firstSeq: events[0]?.seq ?? 0,
      events: [],
      state,
      characters: 0,
      now: Date.now(),
      dueAt: performance.now() + this.#limits.maxDelayMs,
      isSealed: false,
      encoded: null,
    };
    this.#queue.push(batch);
    return batch;
  }

  #fits(batch: Batch, { characters }: Taken): boolean {
    return (
      !batch.isSealed &&
      batch.characters + characters <= this.#limits.maxBatchCharacters
    );
  }

  #isLarge({ events, characters }: Batch): boolean {
    const { maxBatchEvents, maxBatchCharacters } = this.#limits;
    return events.length >= maxBatchEvents || characters >= maxBatchCharacters;
  }
}
