/** Turns a checked batch into the arguments of `turnlog.append_v1`: rows as columns of joined lines, runs packed. */
import { hash } from "node:crypto";
import { EventTooLargeError } from "../errors.ts";
import {
  dataOfMember,
  isDeltaRun,
  partOf,
  type DeltaRun,
} from "../events/delta-run.ts";
import type { CheckedEvent, UncheckedEvent } from "../events/envelope.ts";
import { isDelta, member } from "../events/event.ts";
import { DeltaGatherer } from "../events/gather-deltas.ts";
import type { JsonObject, JsonValue } from "../events/json.ts";
import { encodeSourceSeqs } from "../events/source-seqs.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { AppendItem } from "./take-events.ts";

/** Longest run in one row: keeps a row small enough to be read back in bounded memory. */
export const MAX_RUN_EVENTS = 1_024;

/** Characters of JSON text that one event, and one append, may have. */
export interface SizeLimits {
  readonly maxEventCharacters: number;
  readonly maxAppendCharacters: number;
}

/** A batch, ready to be sent any number of times. */
export interface EncodedAppend {
  readonly eventCount: number;
  /** Offset after the last event that is not a delta; 0 when there is none. */
  readonly factsEnd: number;
  /** What the caller sent, without what we stamped: equal for a retry of the same append. */
  readonly digest: Buffer;
  readonly rowCount: number;
  /** Of JSON text. */
  readonly characters: number;
  /** The last ten arguments of the function: one line a row. */
  readonly columns: readonly string[];
}

/**
 * @param now epoch ms for events without a time
 * @throws EventTooLargeError
 */
export function encodeAppend(
  items: readonly AppendItem[],
  now: number,
  limits: SizeLimits,
): EncodedAppend {
  const rows = new RowColumns(now, limits);
  for (const item of gathered(items)) {
    if (!isDeltaRun(item)) rows.addEvent(item);
    else if (item.texts.length <= MAX_RUN_EVENTS) rows.addRun(item);
    else
      for (let at = 0; at < item.texts.length; at += MAX_RUN_EVENTS)
        rows.addRun(partOf(item, at, at + MAX_RUN_EVENTS));
  }
  return rows.encoded();
}

/** Deltas that were taken over one by one become runs too. */
function gathered(items: readonly AppendItem[]): readonly AppendItem[] {
  const all: AppendItem[] = [];
  const deltas = new DeltaGatherer(all, MAX_RUN_EVENTS, true);
  for (const item of items) {
    if (!isDeltaRun(item) && deltas.takes(envelopeOf(item))) continue;
    deltas.end();
    all.push(item);
  }
  deltas.end();
  return all;
}

/** What a delta has of an event; one with more than that is none that can be packed. */
function envelopeOf(event: CheckedEvent): UncheckedEvent {
  const { type, time, data, ignorable, keyOrder } = event;
  if (type !== "assistant/chunk" || ignorable || keyOrder !== null)
    return NO_DELTA;
  return time === null ? { type, data } : { type, time, data };
}

const NO_DELTA: UncheckedEvent = {};

/** The columns of the rows, filled in one pass. */
class RowColumns {
  readonly #now: number;
  readonly #limits: SizeLimits;
  readonly #counts: number[] = [];
  readonly #types: string[] = [];
  readonly #times: number[] = [];
  /** As the caller gave them, for the digest: what we stamp is another time in a retry. */
  readonly #givenTimes: (number | string)[] = [];
  readonly #turns: (number | string)[] = [];
  readonly #steps: (number | string)[] = [];
  readonly #ignorables: string[] = [];
  readonly #surfaceOps: string[] = [];
  readonly #sources: string[] = [];
  readonly #keyOrders: string[] = [];
  readonly #payloads: string[] = [];
  #eventCount = 0;
  #factsEnd = 0;
  #characters = 0;

  constructor(now: number, limits: SizeLimits) {
    this.#now = now;
    this.#limits = limits;
  }

  addEvent(event: CheckedEvent): void {
    const { data, surfaceOp, sourceEventSeqs: sources } = event;
    const payload = stringifyJson(data);
    if (payload.length > this.#limits.maxEventCharacters)
      this.#refuse(this.#eventCount, payload.length);
    this.#surfaceOps.push(surfaceOp === null ? "" : textOf(surfaceOp));
    this.#sources.push(sources === null ? "" : encodeSourceSeqs(sources));
    this.#keyOrders.push(event.keyOrder ?? "");
    this.#ignorables.push(event.ignorable ? "t" : "");
    this.#turns.push(integerOrEmpty(member(data, "turn")));
    this.#steps.push(integerOrEmpty(member(data, "step")));
    this.#add(event.type, 1, event.time, payload);
    if (!isDelta(event)) this.#factsEnd = this.#eventCount;
  }

  addRun(run: DeltaRun): void {
    const { type, turn, step, texts, times } = run;
    const payload = stringifyJson(packedData(run));
    // A run is longer than each of its events; only one that is too long as a whole needs a closer look.
    if (payload.length > this.#limits.maxEventCharacters) this.#checkEach(run);
    this.#surfaceOps.push("");
    this.#sources.push("");
    this.#keyOrders.push("");
    this.#ignorables.push("");
    this.#turns.push(integerOrEmpty(turn));
    this.#steps.push(integerOrEmpty(step));
    this.#add(type, texts.length, times?.[0] ?? null, payload);
  }

  #add(
    type: string,
    count: number,
    time: number | null,
    payload: string,
  ): void {
    this.#counts.push(count);
    this.#types.push(type);
    this.#times.push(time ?? this.#now);
    this.#givenTimes.push(time ?? "");
    this.#payloads.push(payload);
    this.#characters += payload.length;
    this.#eventCount += count;
  }

  #checkEach(run: DeltaRun): void {
    for (let at = 0; at < run.texts.length; at += 1) {
      const { length } = stringifyJson(dataOfMember(run, at));
      if (length > this.#limits.maxEventCharacters)
        this.#refuse(this.#eventCount + at, length);
    }
  }

  #refuse(index: number | null, actual: number): never {
    const { maxEventCharacters, maxAppendCharacters } = this.#limits;
    const limit = index === null ? maxAppendCharacters : maxEventCharacters;
    throw new EventTooLargeError({ index, actual, limit });
  }

  encoded(): EncodedAppend {
    if (this.#characters > this.#limits.maxAppendCharacters)
      this.#refuse(null, this.#characters);
    const counts = lines(this.#counts);
    const types = lines(this.#types);
    const ignorables = lines(this.#ignorables);
    const surfaceOps = lines(this.#surfaceOps);
    const sources = lines(this.#sources);
    const payloads = lines(this.#payloads);
    const given = lines(this.#givenTimes);
    return {
      eventCount: this.#eventCount,
      factsEnd: this.#factsEnd,
      rowCount: this.#counts.length,
      characters: this.#characters,
      digest: digestOf([
        counts,
        types,
        ignorables,
        surfaceOps,
        sources,
        given,
        payloads,
      ]),
      columns: [
        counts,
        types,
        lines(this.#times),
        lines(this.#turns),
        lines(this.#steps),
        ignorables,
        surfaceOps,
        sources,
        lines(this.#keyOrders),
        payloads,
      ],
    };
  }
}

function lines(values: readonly (string | number)[]): string {
  return values.join("\n");
}

/** The run as it is stored. */
function packedData(run: DeltaRun): JsonObject {
  const { type, turn, step, index, id, name, texts, times } = run;
  const dt = gapsOf(times, texts.length);
  if (type !== "tool-call-chunks") return { turn, step, index, dt, texts };
  return name === null
    ? { turn, step, index, dt, id, args: texts }
    : { turn, step, index, dt, id, name, args: texts };
}

/** Members whose time we stamp all get the same. */
function gapsOf(times: readonly number[] | null, count: number): number[] {
  const gaps: number[] = [];
  for (let at = 1; at < count; at += 1)
    gaps.push(times === null ? 0 : (times[at] ?? 0) - (times[at - 1] ?? 0));
  return gaps;
}

function textOf(surfaceOp: NonNullable<CheckedEvent["surfaceOp"]>): string {
  return surfaceOp === "append" ? surfaceOp : stringifyJson(surfaceOp);
}

function integerOrEmpty(value: JsonValue | undefined): number | string {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : "";
}

/**
 * Half of a SHA-256 over what the caller gave: 16 bytes tell two appends of one id apart. A column has as many lines as any
 * other, and no line holds a line feed, so the text is read in one way only.
 */
function digestOf(columns: readonly string[]): Buffer {
  return hash("sha256", columns.join("\n"), "buffer").subarray(0, 16);
}
