/** Turns a checked batch into the arguments of `turnlog.append_v1`: rows as columns of joined lines, runs packed. */
import { createHash } from "node:crypto";
import { EventTooLargeError } from "../errors.ts";
import { isDelta, member } from "../events/event.ts";
import type { JsonValue } from "../events/json.ts";
import { expandRun } from "../events/expand-runs.ts";
import { isRun, RunPacker, type ChunkRun } from "../events/pack-runs.ts";
import { splitRun } from "../events/split-run.ts";
import { encodeSourceSeqs } from "../events/source-seqs.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import { isStorageTag } from "../events/vocabulary.ts";
import type { PlacedEvent, PlacedItem } from "./check-batch.ts";

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
  readonly isFact: boolean;
  readonly ignorable: boolean;
  readonly surfaceOp: string;
  readonly sources: string;
  readonly keyOrder: string;
  readonly data: JsonValue;
  readonly payload: string;
}

/**
 * @param now epoch ms for events without a time
 * @throws EventTooLargeError
 */
export function encodeAppend(
  items: readonly PlacedItem[],
  now: number,
  limits: SizeLimits,
): EncodedAppend {
  const rows = rowsOf(items, now);
  const characters = checkSizes(rows, limits);
  const last = rows.at(-1);
  const lastFact = rows.findLast(({ isFact }) => isFact);
  return {
    eventCount: last === undefined ? 0 : last.index + last.count,
    rowCount: rows.length,
    characters,
    factsEnd: lastFact === undefined ? 0 : lastFact.index + 1,
    digest: digestOf(rows, items),
    columns: columnsOf(rows),
  };
}

function rowsOf(items: readonly PlacedItem[], now: number): readonly Row[] {
  const [first] = items;
  if (first === undefined) return [];
  const firstSeq = isRun(first) ? first.seq0 : first.seq;
  const packer = new RunPacker<TimedEvent>(MAX_RUN_EVENTS);
  const rows: Row[] = [];
  const add = (packed: Iterable<ChunkRun | TimedEvent>): void => {
    for (const row of packed)
      rows.push(isRun(row) ? runRow(row, firstSeq) : plainRow(row, firstSeq));
  };
  for (const item of items) {
    if (isRun(item)) {
      add(packer.end());
      add(splitRun(item, MAX_RUN_EVENTS));
    } else add(packer.add(timed(item, now)));
  }
  add(packer.end());
  return rows;
}

type TimedEvent = PlacedEvent & { readonly time: number };

function timed(event: PlacedEvent, now: number): TimedEvent {
  return hasTime(event) ? event : { ...event, time: now };
}

function hasTime(event: PlacedEvent): event is TimedEvent {
  return event.time !== null;
}

function runRow(run: ChunkRun, firstSeq: number): Row {
  return {
    index: run.seq0 - firstSeq,
    count: run.eventCount,
    type: run.type,
    time: run.time0,
    turn: run.data["turn"],
    step: run.data["step"],
    isFact: false,
    ignorable: false,
    surfaceOp: "",
    sources: "",
    keyOrder: "",
    data: run.data,
    payload: stringifyJson(run.data),
  };
}

function plainRow(event: TimedEvent, firstSeq: number): Row {
  const { surfaceOp, sourceEventSeqs: sources } = event;
  return {
    index: event.seq - firstSeq,
    count: 1,
    type: event.type,
    time: event.time,
    turn: member(event.data, "turn"),
    step: member(event.data, "step"),
    isFact: !isDelta(event),
    ignorable: event.ignorable,
    surfaceOp:
      surfaceOp === null
        ? ""
        : surfaceOp === "append"
          ? "append"
          : stringifyJson(surfaceOp),
    sources: sources === null ? "" : encodeSourceSeqs(sources),
    keyOrder: event.keyOrder ?? "",
    data: event.data,
    payload: stringifyJson(event.data),
  };
}

/** Returns how many characters the append has. */
function checkSizes(rows: readonly Row[], limits: SizeLimits): number {
  const { maxEventCharacters, maxAppendCharacters } = limits;
  let total = 0;
  for (const row of rows) {
    total += row.payload.length;
    // A run is longer than each of its events; only one that is too long as a whole needs a closer look.
    if (row.payload.length > maxEventCharacters)
      checkEach(row, maxEventCharacters);
  }
  if (total > maxAppendCharacters)
    throw new EventTooLargeError({
      index: null,
      actual: total,
      limit: maxAppendCharacters,
    });
  return total;
}

function checkEach({ index, type, data }: Row, limit: number): void {
  const events = isStorageTag(type)
    ? expandRun({ type, seq0: index, time0: 0 }, data)
    : [{ data }];
  for (const [at, event] of events.entries()) {
    const actual = stringifyJson(event.data).length;
    if (actual > limit)
      throw new EventTooLargeError({ index: index + at, actual, limit });
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
function digestOf(rows: readonly Row[], items: readonly PlacedItem[]): Buffer {
  const hash = createHash("sha256");
  for (const row of rows) {
    hash.update(
      `${row.count} ${row.type} ${row.ignorable ? "t" : ""} ${row.surfaceOp} ${row.sources} ${row.payload}\n`,
    );
  }
  hash.update(
    items.map((item) => (isRun(item) ? item.time0 : item.time) ?? "").join(),
  );
  return hash.digest().subarray(0, 16);
}
