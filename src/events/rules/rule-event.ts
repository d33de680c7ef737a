/** An event as the rules look at it, and helpers that name what is wrong. */
import { member, type SessionEvent } from "../event.ts";
import { seqOrNull, type JsonValue } from "../json.ts";
import { RuleViolation } from "../rule-violation.ts";
import type { SurfaceOp } from "../surface.ts";

export interface RuleEvent {
  readonly type: string;
  readonly seq: number;
  readonly data: JsonValue;
  readonly surfaceOp: SurfaceOp | null;
  readonly sourceEventSeqs: readonly number[] | null;
}

/** Where the log stands when an event comes: the open brackets before it. */
export interface Brackets {
  readonly turn: number | null;
  readonly step: number | null;
}

/** An event of a log as the rules look at it. */
export function ruleEventOf(event: SessionEvent): RuleEvent {
  const { type, seq, data, surfaceOp = null, sourceEventSeqs = null } = event;
  return { type, seq, data, surfaceOp, sourceEventSeqs };
}

/** @throws RuleViolation */
export function violate(rule: string, path: string, reason: string): never {
  throw new RuleViolation(rule, path, reason);
}

export function turnOf(event: RuleEvent): number | null {
  return seqOrNull(member(event.data, "turn"));
}

export function stepOf(event: RuleEvent): number | null {
  return seqOrNull(member(event.data, "step"));
}

/** A string field of the data; empty where it is none. */
export function textOf(event: RuleEvent, key: string): string {
  const value = member(event.data, key);
  return typeof value === "string" ? value : "";
}

/** @throws RuleViolation unless a turn is open */
export function requireTurn(open: Brackets): number {
  return (
    open.turn ??
    violate("outside-turn", "", "must stand in an open turn, but none is open")
  );
}
