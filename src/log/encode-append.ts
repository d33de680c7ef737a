/** Turns a checked batch into the arguments of `turnlog.append_v1`: rows as columns of joined lines, runs packed. */
import { createHash } from "node:crypto";
import { checkEvent, type CheckedEvent } from "../events/envelope.ts";
import { isDelta, type NewEvent } from "../events/event.ts";
import type { JsonValue } from "../events/json.ts";
import { member } from "../events/event.ts";
import { isRun, packRuns } from "../events/pack-runs.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { encodeSourceSeqs } from "../events/source-seqs.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import { EventInvalidError } from "../errors.ts";

/** Longest run in one row: keeps a row small enough to be read back in bounded memory. */
const MAX_RUN_EVENTS = 1_024;

/** A batch, ready to be sent any number of times. */
export interface EncodedAppend {
  readonly eventCount: number;
  /** Offset after the last event that is not a delta; 0 when there is none. */
  readonly factsEnd: number;
  /** What the caller sent, without what we stamped: equal for a retry of the same append. */
  readonly digest: Buffer;
  /** The last eleven arguments of the function: one line a row. */
  readonly columns: readonly string[];
}

interface Row {
  readonly offset: number;
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
 * Checks each event and encodes the batch.
 * @param firstSeq seq the first event gets
 * @param now epoch ms for events without a time
 * @throws EventInvalidError for the first event that breaks a rule
 */
export function encodeAppend(
  events: readonly NewEvent[],
  firstSeq: number,
  now: number,
): EncodedAppend {
  const checked = events.map((event, index) => {
    try {
      const fact = checkEvent(event, firstSeq + index);
      return {
        ...fact,
        seq: firstSeq + index,
        given: fact.time,
        time: fact.time ?? now,
      };
    } catch (error) {
      throw invalid(error, event, index, firstSeq + index);
    }
  });
  const rows = [...packRuns(checked, MAX_RUN_EVENTS)].map((row): Row => {
    if (!isRun(row)) return plainRow(row, row.seq - firstSeq, row.time);
    const { turn, step } = row.data;
    const payload = stringifyJson(row.data);
    const common = {
      offset: row.seq0 - firstSeq,
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
      payload,
    };
  });
  return {
    eventCount: checked.length,
    factsEnd: checked.findLastIndex((event) => !isDelta(event)) + 1,
    digest: digestOf(rows, checked),
    columns: columnsOf(rows),
  };
}

function plainRow(event: CheckedEvent, offset: number, time: number): Row {
  const { surfaceOp, sourceEventSeqs: sources } = event;
  return {
    offset,
    count: 1,
    type: event.type,
    time,
    turn: member(event.data, "turn"),
    step: member(event.data, "step"),
    ignorable: event.ignorable,
    surfaceOp:
      surfaceOp === null
        ? ""
        : surfaceOp === "append"
          ? "append"
          : stringifyJson({ ...surfaceOp }),
    sources: sources === null ? "" : encodeSourceSeqs(sources),
    keyOrder: event.keyOrder ?? "",
    payload: stringifyJson(event.data),
  };
}

function columnsOf(rows: readonly Row[]): readonly string[] {
  const lines = (of: (row: Row) => string | number): string =>
    rows.map(of).join("\n");
  return [
    lines((row) => row.offset),
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
  events: readonly { readonly given: number | null }[],
): Buffer {
  const hash = createHash("sha256");
  for (const row of rows) {
    hash.update(
      `${row.count} ${row.type} ${row.ignorable ? "t" : ""} ${row.surfaceOp} ${row.sources} ${row.payload}\n`,
    );
  }
  hash.update(events.map((event) => event.given ?? "").join());
  return hash.digest().subarray(0, 16);
}

function invalid(
  error: unknown,
  event: NewEvent,
  index: number,
  seq: number,
): unknown {
  if (!(error instanceof RuleViolation)) return error;
  const type = typeof event.type === "string" ? event.type : null;
  return new EventInvalidError({
    index,
    seq,
    type,
    rule: error.rule,
    path: error.path,
    reason: error.reason,
  });
}
