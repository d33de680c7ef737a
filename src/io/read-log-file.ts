/** Reads a JSONL session log (spec 11.2, 11.3): a header line, then events and packed rows of deltas. */
import { EventTypeUnknownError, TurnlogError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import { expandRun } from "../events/expand-runs.ts";
import {
  checkVersion,
  parseHeader,
  type SessionHeader,
} from "../events/header.ts";
import {
  isJsonObject,
  isSeq,
  type JsonObject,
  type JsonValue,
} from "../events/json.ts";
import { inKeyOrder } from "../events/key-order.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { LogChecker } from "../events/rules/log-checker.ts";
import { ruleEventOf } from "../events/rules/rule-event.ts";
import { isKnownType, isStorageTag } from "../events/vocabulary.ts";
import { LogFileError } from "./log-file-error.ts";
import { readLines, type Line } from "./read-lines.ts";

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

/** What reading a file needs from outside. */
export interface ReadLogOptions {
  /** True for a type that needs no mark of being ignorable. */
  readonly knowsType: (type: string) => Promise<boolean>;
}

/**
 * Opens a log file and reads its header; the events follow as they are read, each checked by every rule of an append.
 * @throws LogFileError naming the line, here and while events are read.
 */
export async function openLogFile(
  file: string,
  options: ReadLogOptions,
): Promise<LogFile> {
  const { header, lines } = await open(file);
  return { header, lines: readUncheckedLines(lines, header, options) };
}

/** Opens a file that was read to its end before: its events are taken as they stand. */
export async function reopenLogFile(file: string): Promise<LogFile> {
  const { header, lines } = await open(file);
  return { header, lines: readCheckedLines(lines) };
}

async function open(file: string): Promise<{
  readonly header: SessionHeader;
  readonly lines: AsyncIterable<Line>;
}> {
  const lines = readLines(file);
  const first = await lines.next();
  if (first.done === true)
    throw new LogFileError(1, "the file is empty: there is no header line");
  return { header: at(first.value, () => headerOf(first.value)), lines };
}

function headerOf(line: Line): SessionHeader {
  const value = parseLine(line, "the header line is not JSON");
  if (isJsonObject(value) && typeof value["version"] === "number")
    checkVersion(value["version"]);
  if (!isJsonObject(value) || value["type"] !== "session")
    throw new LogFileError(
      line.number,
      'the first line is not a session header ({"type":"session",…})',
    );
  return parseHeader(value);
}

async function* readUncheckedLines(
  lines: AsyncIterable<Line>,
  header: SessionHeader,
  { knowsType }: ReadLogOptions,
): AsyncGenerator<LogLine> {
  const checker = new LogChecker(header);
  for await (const line of lines) {
    const firstSeq = checker.nextSeq;
    const events = at(line, () =>
      eventsOf(line, firstSeq, (value) => plainEvent(value, checker)),
    );
    // A packed row gives events that are right by themselves; a plain one has been followed while it was read.
    if (checker.nextSeq === firstSeq)
      at(line, () =>
        events.forEach((event) => refuse(checker.follow(ruleEventOf(event)))),
      );
    for (const { type, seq, ignorable } of events) {
      if (ignorable !== true && !isKnownType(type) && !(await knowsType(type)))
        throw new LogFileError(
          line.number,
          new EventTypeUnknownError({ type, seq }).message,
        );
    }
    yield { number: line.number, characters: line.text.length, events };
  }
}

function refuse(violations: readonly RuleViolation[]): void {
  const [first] = violations;
  if (first !== undefined) throw first;
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

function plainEvent(value: JsonObject, checker: LogChecker): SessionEvent {
  const seq = checker.nextSeq;
  const { seq: given, time } = value;
  if (!isSeq(given)) throw new RuleViolation("seq", "seq", "must be a seq");
  if (typeof time !== "number")
    throw new RuleViolation(
      "time",
      "time",
      "must be a safe integer of epoch ms",
    );
  const { checked, violations } = checker.add(value);
  refuse(violations);
  if (checked === null) throw new RuleViolation("envelope", "", "is no event");
  const { type, data, ignorable, sourceEventSeqs, surfaceOp, keyOrder } =
    checked;
  const event: SessionEvent = {
    type,
    seq,
    time,
    data,
    ...(ignorable ? { ignorable } : {}),
    ...(sourceEventSeqs === null ? {} : { sourceEventSeqs }),
    ...(surfaceOp === null ? {} : { surfaceOp }),
  };
  return inKeyOrder(event, keyOrder);
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
