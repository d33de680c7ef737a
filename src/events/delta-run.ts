/** A run of deltas as an append takes it over: what its members share once, and their texts and times. */
import type { CheckedEvent } from "./envelope.ts";
import type { CheckedRun, RunBlock } from "./expand-runs.ts";
import type { JsonObject } from "./json.ts";
import type { StorageTag } from "./vocabulary.ts";

export interface DeltaRun extends RunBlock {
  readonly type: StorageTag;
  /** Never empty. */
  readonly texts: readonly string[];
  /** Of each member; null where the caller leaves them to the store. */
  readonly times: readonly number[] | null;
  /** Seq of the first member, where the caller knew it. */
  readonly givenSeq: number | null;
}

/** Tells runs from events. */
export function isDeltaRun<T extends object>(
  item: T,
): item is Extract<T, DeltaRun> {
  return "texts" in item;
}

/** How many events an item of an append stands for. */
export function eventCountIn(item: CheckedEvent | DeltaRun): number {
  return isDeltaRun(item) ? item.texts.length : 1;
}

/** A packed row that is known to be right. */
export function deltaRunOf(run: CheckedRun): DeltaRun {
  const { type, seq0: givenSeq, texts, gaps, block } = run;
  const { turn, step, index, id, name } = block;
  const times = [run.time0];
  for (const [at, gap] of gaps.entries()) times.push((times[at] ?? 0) + gap);
  return { type, turn, step, index, id, name, texts, times, givenSeq };
}

/** Part of a run, from one member to the one before another. */
export function partOf(run: DeltaRun, from: number, to: number): DeltaRun {
  const { type, turn, step, index, id, name, givenSeq } = run;
  return {
    type,
    turn,
    step,
    index,
    id,
    name,
    texts: run.texts.slice(from, to),
    times: run.times?.slice(from, to) ?? null,
    givenSeq: givenSeq === null ? null : givenSeq + from,
  };
}

/** Data of one member. */
export function dataOfMember(run: DeltaRun, at: number): JsonObject {
  const { type, turn, step, index, id, name } = run;
  const text = run.texts[at] ?? "";
  if (type === "text-chunks")
    return { turn, step, chunk: { type: "text-delta", index, text } };
  if (type === "reasoning-chunks")
    return { turn, step, chunk: { type: "reasoning-delta", index, text } };
  const named = name === null ? { id } : { id, name };
  const chunk = { type: "tool-call-delta", index, ...named };
  return { turn, step, chunk: { ...chunk, argumentsDelta: text } };
}

/** One member as an event by itself. */
export function memberOf(run: DeltaRun, at: number): CheckedEvent {
  return {
    type: "assistant/chunk",
    time: run.times?.[at] ?? null,
    data: dataOfMember(run, at),
    ignorable: false,
    surfaceOp: null,
    sourceEventSeqs: null,
    keyOrder: null,
    givenSeq: run.givenSeq === null ? null : run.givenSeq + at,
  };
}
