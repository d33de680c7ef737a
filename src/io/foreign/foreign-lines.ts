/** Reads a foreign transcript whole: one JSON object a line, each with the time it names. */
import { detachJson, NotLosslessError } from "../../events/lossless-json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../events/json.ts";
import { findLossyNumber } from "../lossy-numbers.ts";
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
  for await (const line of readLines(file)) {
    const { number, text, fault } = line;
    if (fault === "is cut off")
      notes.add(number, "lines cut off at the end of the file");
    else if (fault !== null) refuse(number, `the line ${fault}`);
    else if (text.trim() !== "")
      read.push({ number, value: parse(number, text) });
  }
  return withTimes(read);
}

function parse(number: number, text: string): JsonObject {
  const value = parseJsonLine(number, text);
  const lossy = findLossyNumber(text);
  if (lossy !== null) refuse(number, `${lossy.path} ${lossy.reason}`);
  return isJsonObject(value)
    ? value
    : refuse(number, "the line is not a JSON object");
}

function parseJsonLine(number: number, text: string): JsonValue {
  try {
    return detachJson(JSON.parse(text));
  } catch (cause) {
    if (!(cause instanceof NotLosslessError))
      return refuse(number, "the line is not JSON", cause);
    const path = cause.path.replace(/^\./, "");
    return refuse(number, `${path} ${cause.reason}`, cause);
  }
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
