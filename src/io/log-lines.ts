/** The lines of a JSONL session log, each by itself: a header, then events and packed rows of deltas. */
import { TurnlogError } from "../errors.ts";
import { readRun, type CheckedRun } from "../events/expand-runs.ts";
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
import type { LogRecord } from "../events/log-record.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { isStorageTag, type StorageTag } from "../events/vocabulary.ts";
import { LogFileError } from "./log-file-error.ts";
import { findLossyNumber } from "./lossy-numbers.ts";
import { readLines, type Line } from "./read-lines.ts";

/**
 * Reads the header; the lines after it follow as they are read. The file is open until they are read or returned.
 * @throws LogFileError
 */
export async function openLogLines(file: string): Promise<{
  readonly header: SessionHeader;
  readonly lines: AsyncGenerator<Line>;
}> {
  const lines = readLines(file);
  try {
    const first = await lines.next();
    if (first.done === true)
      throw corrupt(1, "the file is empty: there is no header line");
    return { header: at(1, () => headerOf(first.value)), lines };
  } catch (error) {
    await lines.return(undefined);
    throw error;
  }
}

/** @throws LogFileError with the code LOG_CORRUPT for a line that is no record, EVENT_INVALID for a number that can't be kept */
export function parseRecord(line: Line): LogRecord {
  const value = parseLine(line, "the line is not JSON");
  if (!isJsonObject(value))
    throw corrupt(line.number, "the line is not a JSON object");
  const { type } = value;
  if (typeof type !== "string" || !isStorageTag(type))
    return { event: value, characters: line.text.length };
  try {
    return { run: packedRow(value, type) };
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    throw corrupt(line.number, error.message, { cause: error });
  }
}

/** Gives an error the line it is about. */
export function at<T>(line: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RuleViolation)
      throw new LogFileError("EVENT_INVALID", line, error.message, {
        cause: error,
      });
    if (error instanceof TurnlogError)
      throw new LogFileError(error.code, line, error.message, { cause: error });
    throw error;
  }
}

/** The version is judged first, so that a newer log is never called broken. */
function headerOf(line: Line): SessionHeader {
  const value = parseOrThrow(line, "the header line is not JSON");
  if (isJsonObject(value) && typeof value["version"] === "number")
    checkVersion(value["version"]);
  refuseLossyNumbers(line);
  if (!isJsonObject(value) || value["type"] !== "session")
    throw corrupt(
      line.number,
      'the first line is not a session header ({"type":"session",…})',
    );
  try {
    return parseHeader(value);
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    throw corrupt(line.number, error.message, { cause: error });
  }
}

function packedRow(row: JsonObject, type: StorageTag): CheckedRun {
  const { seq0 = null, time0 = null, data = null } = row;
  for (const key of Object.keys(row)) {
    if (!["type", "seq0", "time0", "data"].includes(key))
      throw new RuleViolation(
        "packed-row",
        key,
        "is not a key of a packed row",
      );
  }
  return readRun({ type, seq0, time0 }, data);
}

function parseLine(line: Line, reason: string): JsonValue {
  const value = parseOrThrow(line, reason);
  refuseLossyNumbers(line);
  return value;
}

function refuseLossyNumbers(line: Line): void {
  const lossy = findLossyNumber(line.text);
  if (lossy !== null)
    throw new LogFileError(
      "EVENT_INVALID",
      line.number,
      `${lossy.path} ${lossy.reason}`,
    );
}

function parseOrThrow(line: Line, reason: string): JsonValue {
  if (line.fault !== null) throw corrupt(line.number, `the line ${line.fault}`);
  try {
    return JSON.parse(line.text);
  } catch (cause) {
    throw corrupt(line.number, reason, { cause });
  }
}

function corrupt(
  line: number,
  reason: string,
  options?: { cause: unknown },
): LogFileError {
  return new LogFileError("LOG_CORRUPT", line, reason, options);
}
