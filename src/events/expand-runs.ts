/** Reads packed rows of deltas: strict about keys, and all or nothing. */
import type { SessionEvent } from "./event.ts";
import {
  isJsonArray,
  isJsonObject,
  isJsonNumber,
  isSeq,
  type JsonObject,
  type JsonValue,
} from "./json.ts";
import { RuleViolation } from "./rule-violation.ts";
import type { StorageTag } from "./vocabulary.ts";

/**
 * Gives back the events of a packed row.
 * @throws RuleViolation (rule `packed-row`) when it is none.
 */
export function expandRun(
  row: {
    readonly type: StorageTag;
    readonly seq0: JsonValue;
    readonly time0: JsonValue;
  },
  data: JsonValue,
): SessionEvent[] {
  const { seq0, time0 } = row;
  if (!isSeq(seq0)) return fail("seq0", "must be a non-negative safe integer");
  if (!isSafe(time0)) return fail("time0", "must be a safe integer");
  if (!isJsonObject(data)) return fail("data", "must be an object");
  const { head, texts, chunkOf } = readRunData(row.type, data);
  const dt = data["dt"];
  if (dt === undefined || !isJsonArray(dt) || dt.length !== texts.length - 1)
    return fail("data.dt", `must be ${texts.length - 1} gaps`);
  const textsPath =
    row.type === "tool-call-chunks" ? "data.args" : "data.texts";
  let time = time0;
  return texts.map((text, at) => {
    const gap = at === 0 ? 0 : dt[at - 1];
    if (typeof text !== "string")
      return fail(`${textsPath}[${at}]`, "must be a string");
    if (!isSafe(gap))
      return fail(`data.dt[${at - 1}]`, "must be a safe integer");
    time += gap;
    const seq = seq0 + at;
    if (!Number.isSafeInteger(time) || !Number.isSafeInteger(seq))
      return fail("data.dt", "leaves the safe range");
    return {
      type: "assistant/chunk",
      seq,
      time,
      data: { ...head, chunk: chunkOf(text) },
    };
  });
}

/** How many events a packed row stands for. */
export function runLength(type: StorageTag, data: JsonValue): number {
  return isJsonObject(data)
    ? readRunData(type, data).texts.length
    : fail("data", "must be an object");
}

interface RunData {
  readonly head: JsonObject;
  readonly texts: readonly JsonValue[];
  readonly chunkOf: (text: string) => JsonObject;
}

function readRunData(type: StorageTag, data: JsonObject): RunData {
  const { turn, step, index, id, name } = data;
  const isToolCall = type === "tool-call-chunks";
  const allowed = isToolCall
    ? ["turn", "step", "index", "dt", "id", "name", "args"]
    : TEXT_RUN_KEYS;
  for (const key of Object.keys(data))
    if (!allowed.includes(key))
      fail(`data.${key}`, "is not a key of a packed row");
  if (!isJsonNumber(turn) || !isJsonNumber(step) || !isJsonNumber(index))
    return fail("data", "must have numbers turn, step and index");
  const texts = isToolCall ? data["args"] : data["texts"];
  if (texts === undefined || !isJsonArray(texts) || texts.length === 0)
    return fail(
      isToolCall ? "data.args" : "data.texts",
      "must be a non-empty array",
    );
  const head = { turn, step };
  if (!isToolCall) {
    const kind = type === "text-chunks" ? "text-delta" : "reasoning-delta";
    return { head, texts, chunkOf: (text) => ({ type: kind, index, text }) };
  }
  if (typeof id !== "string") return fail("data.id", "must be a string");
  if (name !== undefined && typeof name !== "string")
    return fail("data.name", "must be a string");
  const named = name === undefined ? { id } : { id, name };
  return {
    head,
    texts,
    chunkOf: (text) => ({
      type: "tool-call-delta",
      index,
      ...named,
      argumentsDelta: text,
    }),
  };
}

const TEXT_RUN_KEYS: readonly string[] = [
  "turn",
  "step",
  "index",
  "dt",
  "texts",
];

function isSafe(value: JsonValue | undefined): value is number {
  return (
    typeof value === "number" &&
    Number.isSafeInteger(value) &&
    !Object.is(value, -0)
  );
}

function fail(path: string, reason: string): never {
  throw new RuleViolation("packed-row", path, reason);
}
