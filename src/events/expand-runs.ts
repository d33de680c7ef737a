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
import type { ChunkRun } from "./pack-runs.ts";
import { RuleViolation } from "./rule-violation.ts";
import type { StorageTag } from "./vocabulary.ts";

/** A packed row before anything is known of it. */
export interface PackedRow {
  readonly type: StorageTag;
  readonly seq0: JsonValue;
  readonly time0: JsonValue;
}

/**
 * Gives back the events of a packed row.
 * @throws RuleViolation (rule `packed-row`) when it is none.
 */
export function expandRun(row: PackedRow, data: JsonValue): SessionEvent[] {
  return membersOf(readRun(row, data));
}

/** What all members of a run share. */
export interface RunBlock {
  readonly turn: number;
  readonly step: number;
  readonly index: number;
  /** Of a tool call; null for texts. */
  readonly id: string | null;
  /** Of a tool call whose deltas give it. */
  readonly name: string | null;
}

/** A packed row that is known to be right: its data in canonical order, and what expanding it needs. */
export interface CheckedRun extends ChunkRun {
  readonly textsKey: RunData["textsKey"];
  readonly texts: readonly string[];
  readonly gaps: readonly number[];
  readonly block: RunBlock;
  readonly chunkOf: (text: string) => JsonObject;
}

/**
 * Checks a packed row without expanding it.
 * @throws RuleViolation (rule `packed-row`)
 */
export function readRun(row: PackedRow, data: JsonValue): CheckedRun {
  const { type, seq0, time0 } = row;
  if (!isSeq(seq0)) return fail("seq0", "must be a non-negative safe integer");
  if (!isSafe(time0)) return fail("time0", "must be a safe integer");
  if (!isJsonObject(data)) return fail("data", "must be an object");
  const run = readRunData(type, data);
  const { head, named, block, textsKey, chunkOf } = run;
  const texts = readTexts(run.texts, textsKey);
  const gaps = readGaps(data["dt"], texts.length, time0);
  if (!Number.isSafeInteger(seq0 + (texts.length - 1)))
    fail("data.dt", "leaves the safe range");
  return {
    type,
    seq0,
    time0,
    eventCount: texts.length,
    data: { ...head, dt: gaps, ...named, [textsKey]: texts },
    textsKey,
    texts,
    gaps,
    block,
    chunkOf,
  };
}

/** The first event of a run: what the rules look at is the same in all of them. */
export function firstOf(run: CheckedRun): SessionEvent {
  const { turn = null, step = null } = run.data;
  return {
    type: "assistant/chunk",
    seq: run.seq0,
    time: run.time0,
    data: { turn, step, chunk: run.chunkOf(run.texts[0] ?? "") },
  };
}

/** The events of a run, in order. */
export function membersOf(run: CheckedRun): SessionEvent[] {
  const { seq0, texts, gaps, chunkOf, data } = run;
  const { turn = null, step = null } = data;
  let time = run.time0;
  return texts.map((text, at) => {
    time += at === 0 ? 0 : (gaps[at - 1] ?? 0);
    return {
      type: "assistant/chunk",
      seq: seq0 + at,
      time,
      data: { turn, step, chunk: chunkOf(text) },
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
  readonly head: {
    readonly turn: number;
    readonly step: number;
    readonly index: number;
  };
  /** Call id and name of a tool call. */
  readonly named: JsonObject;
  readonly block: RunBlock;
  readonly textsKey: "texts" | "args";
  readonly texts: readonly JsonValue[];
  readonly chunkOf: (text: string) => JsonObject;
}

function readRunData(type: StorageTag, data: JsonObject): RunData {
  const { turn, step, index, id, name } = data;
  const textsKey = type === "tool-call-chunks" ? "args" : "texts";
  for (const key of Object.keys(data))
    if (!RUN_KEYS[textsKey].includes(key))
      fail(`data.${key}`, "is not a key of a packed row");
  if (!isJsonNumber(turn) || !isJsonNumber(step) || !isJsonNumber(index))
    return fail("data", "must have numbers turn, step and index");
  const texts = data[textsKey];
  if (texts === undefined || !isJsonArray(texts) || texts.length === 0)
    return fail(`data.${textsKey}`, "must be a non-empty array");
  const head = { turn, step, index };
  if (textsKey === "texts") {
    const kind = type === "text-chunks" ? "text-delta" : "reasoning-delta";
    const chunkOf = (text: string) => ({ type: kind, index, text });
    const block = { ...head, id: null, name: null };
    return { head, named: {}, block, textsKey, texts, chunkOf };
  }
  if (typeof id !== "string") return fail("data.id", "must be a string");
  if (name !== undefined && typeof name !== "string")
    return fail("data.name", "must be a string");
  const named = name === undefined ? { id } : { id, name };
  const chunkOf = (text: string) => ({
    type: "tool-call-delta",
    index,
    ...named,
    argumentsDelta: text,
  });
  const block = { ...head, id, name: name ?? null };
  return { head, named, block, textsKey, texts, chunkOf };
}

function readTexts(
  values: readonly JsonValue[],
  key: RunData["textsKey"],
): readonly string[] {
  const isText = (value: JsonValue, at: number): value is string =>
    typeof value === "string" || fail(`data.${key}[${at}]`, "must be a string");
  return values.every(isText) ? values : [];
}

/** @throws RuleViolation unless there is a gap between each two events, and every time is a safe integer */
function readGaps(
  dt: JsonValue | undefined,
  length: number,
  time0: number,
): readonly number[] {
  if (dt === undefined || !isJsonArray(dt) || dt.length !== length - 1)
    return fail("data.dt", `must be ${length - 1} gaps`);
  let time = time0;
  const isGap = (gap: JsonValue, at: number): gap is number => {
    if (!isSafe(gap)) return fail(`data.dt[${at}]`, "must be a safe integer");
    time += gap;
    return (
      Number.isSafeInteger(time) || fail("data.dt", "leaves the safe range")
    );
  };
  return dt.every(isGap) ? dt : [];
}

const RUN_KEYS: Readonly<Record<RunData["textsKey"], readonly string[]>> = {
  texts: ["turn", "step", "index", "dt", "texts"],
  args: ["turn", "step", "index", "dt", "id", "name", "args"],
};

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
