/** Reads a log file as events: checked by every rule of an append, or, the second time, as they stand. */
import { EventTooLargeError, EventTypeUnknownError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import { isSeq, type JsonObject } from "../events/json.ts";
import { inKeyOrder } from "../events/key-order.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { LogChecker } from "../events/rules/log-checker.ts";
import { ruleEventOf } from "../events/rules/rule-event.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import { isKnownType } from "../events/vocabulary.ts";
import { at, openLogLines, readRecord } from "./log-lines.ts";
import { LogFileError } from "./log-file-error.ts";
import type { Line } from "./read-lines.ts";

/** A line of the file: one event, or all of a packed row. */
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
  /** Characters of JSON that the data of one event may have; default any. */
  readonly maxEventCharacters?: number;
}

/**
 * Opens a log file and reads its header; the events follow as they are read, each checked by every rule of an append.
 * @throws LogFileError naming the line, here and while events are read.
 */
export async function openLogFile(
  file: string,
  options: ReadLogOptions,
): Promise<LogFile> {
  const { header, lines } = await openLogLines(file);
  return { header, lines: readUnchecked(lines, header, options) };
}

/** Opens a file that was read to its end before: its events are taken as they stand. */
export async function reopenLogFile(file: string): Promise<LogFile> {
  const { header, lines } = await openLogLines(file);
  return { header, lines: readChecked(lines) };
}

async function* readUnchecked(
  lines: AsyncIterable<Line>,
  header: SessionHeader,
  { knowsType, maxEventCharacters = Number.POSITIVE_INFINITY }: ReadLogOptions,
): AsyncGenerator<LogLine> {
  const checker = new LogChecker(header);
  for await (const line of lines) {
    const events = at(line, () => followLine(checker, line));
    if (line.text.length > maxEventCharacters)
      at(line, () => checkSizes(events, maxEventCharacters));
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

function checkSizes(events: readonly SessionEvent[], limit: number): void {
  for (const { data } of events) {
    const actual = stringifyJson(data).length;
    if (actual > limit)
      throw new EventTooLargeError({ index: 0, actual, limit });
  }
}

function followLine(checker: LogChecker, line: Line): readonly SessionEvent[] {
  const record = readRecord(line, checker.nextSeq);
  if ("event" in record) return [followEvent(checker, record.event)];
  for (const event of record.row) refuse(checker.follow(ruleEventOf(event)));
  return record.row;
}

function followEvent(checker: LogChecker, value: JsonObject): SessionEvent {
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
  if (checked === null)
    throw new RuleViolation("envelope-keys", "", "is no event");
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

function refuse(violations: readonly RuleViolation[]): void {
  const [first] = violations;
  if (first !== undefined) throw first;
}

/** The store checks each event again as it is appended, so a file that changed meanwhile does no harm. */
async function* readChecked(
  lines: AsyncIterable<Line>,
): AsyncGenerator<LogLine> {
  let nextSeq = 0;
  for await (const line of lines) {
    const record = at(line, () => readRecord(line, nextSeq));
    const events =
      "row" in record
        ? record.row
        : [at(line, () => asItStands(record.event, nextSeq))];
    nextSeq += events.length;
    yield { number: line.number, characters: line.text.length, events };
  }
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
