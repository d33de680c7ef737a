/** Reads a JSONL session log (spec 11.2, 11.3): a header line, then events and packed rows of deltas. */
import { EventTypeUnknownError, TurnlogError } from "../errors.ts";
import { checkEvent } from "../events/envelope.ts";
import type { SessionEvent } from "../events/event.ts";
import { expandRun } from "../events/expand-runs.ts";
import { parseHeader, type SessionHeader } from "../events/header.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../events/json.ts";
import { inKeyOrder } from "../events/key-order.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { isKnownType, isStorageTag } from "../events/vocabulary.ts";
import { LogFileError } from "./log-file-error.ts";
import { readLines, type Line } from "./read-lines.ts";
import { SurfaceCheck } from "./surface-check.ts";

/** A line of the file, checked: one event, or all of a packed row. */
interface LogLine {
  /** From 1, the header included. */
  readonly number: number;
  /** Length of its text. */
  readonly characters: number;
  readonly events: readonly SessionEvent[];
}

export interface LogFile {
  readonly header: SessionHeader;
  /** The lines after the header, in order. */
  readonly lines: AsyncIterable<LogLine>;
}

/**
 * Opens a log file and reads its header; the events follow as they are read.
 * @param known `checked` for a file that was read to its end before: events are taken as they stand
 * @throws LogFileError naming the line, here and while events are read.
 */
export async function openLogFile(
  file: string,
  known: "unchecked" | "checked" = "unchecked",
): Promise<LogFile> {
  const lines = readLines(file);
  const first = await lines.next();
  if (first.done === true)
    throw new LogFileError(1, "the file is empty: there is no header line");
  return {
    header: at(first.value, () => headerOf(first.value)),
    lines:
      known === "checked" ? readCheckedLines(lines) : readUncheckedLines(lines),
  };
}

function headerOf(line: Line): SessionHeader {
  const value = parseLine(line, "the header line is not JSON");
  if (!isJsonObject(value) || value["type"] !== "session")
    throw new LogFileError(
      line.number,
      'the first line is not a session header ({"type":"session",…})',
    );
  return parseHeader(value);
}

async function* readUncheckedLines(
  lines: AsyncIterable<Line>,
): AsyncGenerator<LogLine> {
  const surface = new SurfaceCheck();
  let nextSeq = 0;
  for await (const line of lines) {
    const events = at(line, () => eventsOf(line, nextSeq, plainEvent));
    at(line, () => events.forEach((event) => surface.add(event)));
    nextSeq += events.length;
    yield { number: line.number, characters: line.text.length, events };
  }
}

/** The store checks each event again as it is appended, so a file that changed meanwhile does no harm. */
async function* readCheckedLines(
  lines: AsyncIterable<Line>,
): AsyncGenerator<LogLine> {
  let nextSeq = 0;
  for await (const line of lines) {
    const events = at(line, () => eventsOf(line, nextSeq, asItStands));
    nextSeq += events.length;
    yield { number: line.number, characters: line.text.length, events };
  }
}

function eventsOf(
  line: Line,
  nextSeq: number,
  read: (value: JsonObject, nextSeq: number) => SessionEvent,
): readonly SessionEvent[] {
  const value = parseLine(line, "the line is not JSON");
  if (!isJsonObject(value))
    throw new LogFileError(line.number, "the line is not a JSON object");
  const { type } = value;
  return typeof type === "string" && isStorageTag(type)
    ? packedRow({ ...value, type }, nextSeq)
    : [read(value, nextSeq)];
}

function asItStands(value: JsonObject, nextSeq: number): SessionEvent {
  if (!isEvent(value) || value.seq !== nextSeq)
    throw new RuleViolation(
      "seq",
      "seq",
      `is not ${nextSeq} any more: the file has changed while it was read`,
    );
  return value;
}

function isEvent(value: object): value is SessionEvent {
  return (
    "type" in value &&
    typeof value.type === "string" &&
    "seq" in value &&
    typeof value.seq === "number" &&
    "time" in value &&
    typeof value.time === "number" &&
    "data" in value
  );
}

function packedRow(
  row: JsonObject & { readonly type: Parameters<typeof expandRun>[0]["type"] },
  nextSeq: number,
): readonly SessionEvent[] {
  const { type, seq0 = null, time0 = null, data = null } = row;
  for (const key of Object.keys(row)) {
    if (!["type", "seq0", "time0", "data"].includes(key))
      throw new RuleViolation(
        "packed-row",
        key,
        "is not a key of a packed row",
      );
  }
  if (seq0 !== nextSeq)
    throw new RuleViolation(
      "seq",
      "seq0",
      `is ${JSON.stringify(seq0)}, but seq ${nextSeq} comes next`,
    );
  return expandRun({ type, seq0, time0 }, data);
}

function plainEvent(value: JsonObject, nextSeq: number): SessionEvent {
  const { seq, time } = value;
  if (seq === undefined)
    throw new RuleViolation("seq", "seq", "must be present");
  if (typeof time !== "number")
    throw new RuleViolation(
      "time",
      "time",
      "must be a safe integer of epoch ms",
    );
  const checked = checkEvent(value, nextSeq);
  if (!isKnownType(checked.type) && !checked.ignorable)
    throw new EventTypeUnknownError({ type: checked.type, seq: nextSeq });
  const event: SessionEvent = {
    type: checked.type,
    seq: nextSeq,
    time,
    data: checked.data,
    ...(checked.ignorable ? { ignorable: true } : {}),
    ...(checked.sourceEventSeqs === null
      ? {}
      : { sourceEventSeqs: checked.sourceEventSeqs }),
    ...(checked.surfaceOp === null ? {} : { surfaceOp: checked.surfaceOp }),
  };
  return inKeyOrder(event, checked.keyOrder);
}

function parseLine(line: Line, reason: string): JsonValue {
  try {
    return JSON.parse(line.text);
  } catch (cause) {
    throw new LogFileError(line.number, reason, { cause });
  }
}

/** Gives an error the line it is about. */
function at<T>(line: Line, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RuleViolation || error instanceof TurnlogError)
      throw new LogFileError(line.number, error.message, { cause: error });
    throw error;
  }
}
