/** The lines of a JSONL session log: a header, then events and packed rows of deltas. */
import { TurnlogError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import { expandRun } from "../events/expand-runs.ts";
import {
  checkVersion,
  parseHeader,
  type SessionHeader,
} from "../events/header.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../events/json.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { isStorageTag, type StorageTag } from "../events/vocabulary.ts";
import { LogFileError } from "./log-file-error.ts";
import { readLines, type Line } from "./read-lines.ts";

/**
 * Reads the header; the lines after it follow as they are read.
 * @throws LogFileError
 */
export async function openLogLines(file: string): Promise<{
  readonly header: SessionHeader;
  readonly lines: AsyncIterable<Line>;
}> {
  const lines = readLines(file);
  const first = await lines.next();
  if (first.done === true)
    throw new LogFileError(1, "the file is empty: there is no header line");
  return { header: at(first.value, () => headerOf(first.value)), lines };
}

/** What a line holds: the events of a packed row, or one event as it was written. */
export type LogRecord =
  { readonly row: readonly SessionEvent[] } | { readonly event: JsonObject };

/**
 * @param nextSeq seq that a packed row must begin with; any when left out
 * @throws LogFileError, or RuleViolation for a packed row that is wrong
 */
export function readRecord(line: Line, nextSeq?: number): LogRecord {
  const value = parseLine(line, "the line is not JSON");
  if (!isJsonObject(value))
    throw new LogFileError(line.number, "the line is not a JSON object");
  const { type } = value;
  return typeof type === "string" && isStorageTag(type)
    ? { row: packedRow(value, type, nextSeq) }
    : { event: value };
}

/** Gives an error the line it is about. */
export function at<T>(line: Line, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RuleViolation || error instanceof TurnlogError)
      throw new LogFileError(line.number, error.message, { cause: error });
    throw error;
  }
}

/** The version is judged first, so that a newer log is never called broken. */
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

function packedRow(
  row: JsonObject,
  type: StorageTag,
  nextSeq: number | undefined,
): readonly SessionEvent[] {
  const { seq0 = null, time0 = null, data = null } = row;
  for (const key of Object.keys(row)) {
    if (!["type", "seq0", "time0", "data"].includes(key))
      throw new RuleViolation(
        "packed-row",
        key,
        "is not a key of a packed row",
      );
  }
  if (nextSeq !== undefined && seq0 !== nextSeq)
    throw new RuleViolation(
      "seq",
      "seq0",
      `is ${JSON.stringify(seq0)}, but seq ${nextSeq} comes next`,
    );
  return expandRun({ type, seq0, time0 }, data);
}

function parseLine(line: Line, reason: string): JsonValue {
  try {
    return JSON.parse(line.text);
  } catch (cause) {
    throw new LogFileError(line.number, reason, { cause });
  }
}
