/** Where a legal log stands before an event: what a wrong event must know to be wrong in one point only. */
import { isRecord } from "./illegal-changes.ts";
import type { EventLike } from "./reference-log.ts";

export interface Place {
  /** Seq that the next event gets. */
  readonly seq: number;
  readonly events: readonly EventLike[];
  readonly turn: number | null;
  readonly step: number | null;
  readonly nextTurn: number;
  readonly nextStep: number;
  /** Seqs on the surface, in its order. */
  readonly surface: readonly number[];
  /** Calls so far, answered or not, the last ones first. */
  readonly calls: readonly string[];
  readonly provider: string | null;
}

/** The place before event `at`. */
export function placeBefore(events: readonly EventLike[], at: number): Place {
  const before = events.slice(0, at);
  let [turn, step]: (number | null)[] = [null, null];
  let [nextTurn, nextStep] = [1, 1];
  let provider: string | null = null;
  const surface: number[] = [];
  const calls: string[] = [];
  for (const { type, seq, data, surfaceOp } of before) {
    if (surfaceOp !== undefined) place(surface, seq, surfaceOp);
    if (type === "turn/start") {
      [turn, nextStep] = [nextTurn, 1];
      nextTurn += 1;
    } else if (type === "turn/end") [turn, step] = [null, null];
    else if (type === "step/start") {
      step = nextStep;
      nextStep += 1;
    } else if (type === "step/end") step = null;
    else if (type === "tool/call") calls.unshift(String(at1(data, "callId")));
    else if (type === "request/header")
      provider = String(at1(at1(at1(data, "header"), "config"), "provider"));
  }
  return {
    seq: at,
    events: before,
    turn: turn ?? null,
    step: step ?? null,
    nextTurn,
    nextStep,
    surface,
    calls,
    provider,
  };
}

/** Member `n`, counted round and round; undefined of an empty list. */
export function nth<T>(list: readonly T[], n: number): T | undefined {
  return list[n % list.length];
}

/** Choice number `which` out of the many that a number stands for; choices do not depend on one another. */
export function part(n: number, which: number): number {
  let mixed = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(which + 1, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Own property of an object. */
export function at1(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function place(
  surface: number[],
  seq: number,
  op: NonNullable<EventLike["surfaceOp"]>,
): void {
  if (op === "append") surface.push(seq);
  else {
    const from = surface.indexOf(op.start);
    surface.splice(from, surface.indexOf(op.end) - from + 1, seq);
  }
}
