/** Reads a foreign transcript whole: one JSON object a line, each with the time it names. */
import { detachJson, NotLosslessError } from "../../events/lossless-json.ts";
import { isJsonObject, type JsonObject } from "../../events/json.ts";
import { LogFileError } from "../log-file-error.ts";
import { readLines } from "../read-lines.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { timeOf } from "./fields.ts";
import { refuse } from "./refuse.ts";

export interface ForeignLine {
  /** From 1. */
  readonly number: number;
  /** Epoch ms: its own, or that of the last line before it that has one. */
  readonly time: number;
  readonly value: JsonObject;
}

/**
 * Blank lines are passed over. A last line without a line feed is one that is being written: it is noted and left out.
 * @throws LogFileError for a line that is no JSON object, or holds what JSON would not give back
 */
export async function readForeignLines(
  file: string,
  notes: ConversionNotes,
): Promise<readonly ForeignLine[]> {
  const read: { readonly number: number; readonly value: JsonObject }[] = [];
  let last = 0;
  try {
    for await (const { number, text } of readLines(file)) {
      last = number;
      if (text.trim() !== "") read.push({ number, value: parse(number, text) });
    }
  } catch (error) {
    if (!isTornTail(error, last)) throw error;
    notes.add(last + 1, "lines cut off at the end of the file");
  }
  return withTimes(read);
}

function isTornTail(error: unknown, last: number): boolean {
  return (
    error instanceof LogFileError &&
    error.line === last + 1 &&
    error.message.startsWith("the line is cut off")
  );
}

function parse(number: number, text: string): JsonObject {
  try {
    const value = detachJson(JSON.parse(text));
    if (isJsonObject(value)) return value;
  } catch (cause) {
    if (cause instanceof NotLosslessError)
      return refuse(
        number,
        `${cause.path.replace(/^\./, "")} ${cause.reason}`,
        cause,
      );
    return refuse(number, "the line is not JSON", cause);
  }
  return refuse(number, "the line is not a JSON object");
}

/** Lines before the first time have that one. */
function withTimes(
  read: readonly { readonly number: number; readonly value: JsonObject }[],
): readonly ForeignLine[] {
  const times = read.map(({ value }) => timeOf(value["timestamp"]));
  let time = times.find((known) => known !== null) ?? 0;
  return read.map((line, at) => {
    time = times[at] ?? time;
    return { ...line, time };
  });
}
