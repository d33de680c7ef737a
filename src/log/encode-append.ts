/** Turns a checked batch into the arguments of `turnlog.append_v1`: rows as columns of joined lines, runs packed. */
import { createHash } from "node:crypto";
import { EventTooLargeError } from "../errors.ts";
import { isDelta, member } from "../events/event.ts";
import type { JsonValue } from "../events/json.ts";
import { isRun, packRuns } from "../events/pack-runs.ts";
import { encodeSourceSeqs } from "../events/source-seqs.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { PlacedEvent } from "./check-batch.ts";

/** Longest run in one row: keeps a row small enough to be read back in bounded memory. */
const MAX_RUN_EVENTS = 1_024;

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

interface Row {
  /** Position in the batch of its (first) event. */
  readonly index: number;
  readonly count: number;
  readonly type: string;
  readonly time: number;
  readonly turn: JsonValue | undefined;
  readonly step: JsonValue | undefined;
  readonly ignorable: boolean;
  readonly surfaceOp: string;
  readonly sources: string;
  readonly keyOrder: string;
  readonly payload: string;
}

/**
 * @param now epoch ms for events without a time
 * @throws EventTooLargeError
 */
export function encodeAppend(
  events: readonly PlacedEvent[],
  now: number,
  limits: SizeLimits,
): EncodedAppend {
  const firstSeq = events[0]?.seq ?? 0;
  const timed = events.map((event) => ({ ...event, time: event.time ?? now }));
  const rows = [...packRuns(timed, MAX_RUN_EVENTS)].map((row): Row => {
    if (!isRun(row)) return plainRow(row, row.seq - firstSeq);
    const { turn, step } = row.data;
    const common = {
      index: row.seq0 - firstSeq,
      count: row.eventCount,
      type: row.type,
      time: row.time0,
      turn,
      step,
    };
    return {
      ...common,
      ignorable: false,
      surfaceOp: "",
      sources: "",
      keyOrder: "",
      payload: stringifyJson(row.data),
    };
  });
  const characters = checkSizes(rows, events, limits);
  return {
    eventCount: events.length,
    rowCount: rows.length,
    characters,
    factsEnd: events.findLastIndex((event) => !isDelta(event)) + 1,
    digest: digestOf(rows, events),
    columns: columnsOf(rows),
  };
}

function plainRow(
  event: PlacedEvent & { readonly time: number },
  index: number,
): Row {
  const { surfaceOp, sourceEventSeqs: sources } = event;
  return {
    index,
    count: 1,
    type: event.type,
    time: event.time,
    turn: member(event.data, "turn"),
    step: member(event.data, "step"),
    ignorable: event.ignorable,
    surfaceOp:
      surfaceOp === null
        ? ""
        : surfaceOp === "append"
          ? "append"
          : stringifyJson(surfaceOp),
    sources: sources === null ? "" : encodeSourceSeqs(sources),
    keyOrder: event.keyOrder ?? "",
    payload: stringifyJson(event.data),
  };
}

/** Returns how many characters the append has. */
function checkSizes(
  rows: readonly Row[],
  events: readonly PlacedEvent[],
  limits: SizeLimits,
): number {
  const { maxEventCharacters, maxAppendCharacters } = limits;
  let total = 0;
  for (const { index, count, payload } of rows) {
    total += payload.length;
    // A run is longer than each of its events; only one that is too long as a whole needs a closer look.
    if (payload.length > maxEventCharacters)
      checkEach(events.slice(index, index + count), index, maxEventCharacters);
  }
  if (total > maxAppendCharacters)
    throw new EventTooLargeError({
      index: null,
      actual: total,
      limit: maxAppendCharacters,
    });
  return total;
}

function checkEach(
  events: readonly PlacedEvent[],
  firstIndex: number,
  limit: number,
): void {
  for (const [at, { data }] of events.entries()) {
    const actual = stringifyJson(data).length;
    if (actual > limit)
      throw new EventTooLargeError({ index: firstIndex + at, actual, limit });
  }
}

function columnsOf(rows: readonly Row[]): readonly string[] {
  const lines = (of: (row: Row) => string | number): string =>
    rows.map(of).join("\n");
  return [
    lines((row) => row.count),
    lines((row) => row.type),
    lines((row) => row.time),
    lines((row) => integerOrEmpty(row.turn)),
    lines((row) => integerOrEmpty(row.step)),
    lines((row) => (row.ignorable ? "t" : "")),
    lines((row) => row.surfaceOp),
    lines((row) => row.sources),
    lines((row) => row.keyOrder),
    lines((row) => row.payload),
  ];
}

function integerOrEmpty(value: JsonValue | undefined): string {
  return typeof value === "number" && Number.isSafeInteger(value)
    ? String(value)
    : "";
}

/** Half of a SHA-256 over what the caller gave: 16 bytes tell two appends of one id apart. */
function digestOf(
  rows: readonly Row[],
  events: readonly PlacedEvent[],
): Buffer {
  const hash = createHash("sha256");
  for (const row of rows) {
    hash.update(
      `${row.count} ${row.type} ${row.ignorable ? "t" : ""} ${row.surfaceOp} ${row.sources} ${row.payload}\n`,
    );
  }
  hash.update(events.map((event) => event.time ?? "").join());
  return hash.digest().subarray(0, 16);
}
