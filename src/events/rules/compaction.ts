/** A compaction is a bracket: start, summary, the replacement right behind it, end. */
import { isDeepStrictEqual } from "node:util";
import { member } from "../event.ts";
import { isJsonArray, isSeq, type JsonValue } from "../json.ts";
import {
  requireTurn,
  textOf,
  turnOf,
  violate,
  type Brackets,
  type RuleEvent,
} from "./rule-event.ts";

interface OpenCompaction {
  readonly compactionId: string;
  readonly sourceCommandId: string | null;
  /** Null for a standalone one, outside of any turn. */
  readonly turn: number | null;
  readonly stage: "started" | "summarised" | "replaced";
}

export interface CompactionState {
  readonly open: OpenCompaction | null;
  /** What the event just before announced to be replaced; null after any other event. */
  readonly claim: {
    readonly start: number;
    readonly end: number;
    readonly compactionId: string | null;
  } | null;
}

export const initCompaction: CompactionState = { open: null, claim: null };

/** @throws RuleViolation (rules compaction-bracket, compaction-range, compaction-adjacency) */
export function applyCompaction(
  state: CompactionState,
  event: RuleEvent,
  open: Brackets,
): CompactionState {
  const next = { open: state.open, claim: null };
  switch (event.type) {
    case "compaction/start":
      return { ...next, open: begin(state, event, open) };
    case "compaction/summary":
      return summarise(requireMember(state, event), event);
    case "compaction/end":
      requireComplete(requireMember(state, event), event);
      return initCompaction;
    case "compaction/prune":
      requireTurn(open);
      return { ...next, claim: { ...readRange(event), compactionId: null } };
    case "turn/start":
    case "turn/end":
      return cross(state, event);
    case "session/end-seed":
      return initCompaction;
    default:
      return event.surfaceOp === null || event.surfaceOp === "append"
        ? next
        : replace(state, event);
  }
}

/** Where an event leaves a bracket that it broke a rule of: as if it had been right. */
export function compactionAsNamed(
  state: CompactionState,
  event: RuleEvent,
): CompactionState {
  switch (event.type) {
    case "compaction/start": {
      const open = {
        compactionId: textOf(event, "compactionId"),
        sourceCommandId: commandOf(event),
        turn: turnOf(event),
      };
      return { open: { ...open, stage: "started" }, claim: null };
    }
    case "compaction/end":
    case "turn/start":
    case "turn/end":
      return initCompaction;
    default:
      return { open: state.open, claim: null };
  }
}

function begin(
  state: CompactionState,
  event: RuleEvent,
  open: Brackets,
): OpenCompaction {
  if (state.open !== null)
    violate(
      "compaction-bracket",
      "data.compactionId",
      `starts while compaction ${state.open.compactionId} is open`,
    );
  const compactionId = textOf(event, "compactionId");
  if (compactionId === "")
    violate(
      "compaction-bracket",
      "data.compactionId",
      "must be a non-empty string",
    );
  const turn = turnOf(event);
  if (turn !== open.turn)
    violate(
      "compaction-bracket",
      "data.turn",
      `is ${turn ?? "null"}, but ${open.turn ?? "no"} turn is open`,
    );
  return {
    compactionId,
    sourceCommandId: commandOf(event),
    turn,
    stage: "started",
  };
}

function summarise(open: OpenCompaction, event: RuleEvent): CompactionState {
  if (open.stage !== "started")
    violate(
      "compaction-bracket",
      "data",
      "is the second summary of its compaction",
    );
  const claim = { ...readRange(event), compactionId: open.compactionId };
  return { open: { ...open, stage: "summarised" }, claim };
}

/** A replacement right behind a claim must be the claimed one, and a checkpoint needs its summary before it. */
function replace(state: CompactionState, event: RuleEvent): CompactionState {
  const { claim, open } = state;
  const range = event.surfaceOp;
  if (
    claim !== null &&
    typeof range === "object" &&
    (claim.start !== range?.start || claim.end !== range.end)
  )
    violate(
      "compaction-adjacency",
      "surfaceOp",
      `replaces another range than the ${claim.start} to ${claim.end} just announced`,
    );
  const compactionId = member(member(event.data, "source"), "compactionId");
  if (event.type !== "user/message" || compactionId === undefined)
    return { open, claim: null };
  if (claim === null || claim.compactionId !== compactionId)
    violate(
      "compaction-adjacency",
      "data.source.compactionId",
      "must stand right behind the summary of its compaction",
    );
  const command =
    member(member(event.data, "source"), "sourceCommandId") ?? null;
  if (command !== (open?.sourceCommandId ?? null))
    violate(
      "compaction-bracket",
      "data.source.sourceCommandId",
      "must be the same on all members of a compaction",
    );
  return {
    open: open === null ? null : { ...open, stage: "replaced" },
    claim: null,
  };
}

function requireComplete(open: OpenCompaction, event: RuleEvent): void {
  if (turnOf(event) !== open.turn)
    violate(
      "compaction-bracket",
      "data.turn",
      `is ${turnOf(event) ?? "null"}, but the compaction began in ${open.turn ?? "no"} turn`,
    );
  if (member(event.data, "error") === undefined && open.stage !== "replaced")
    violate(
      "compaction-bracket",
      "data",
      "ends a compaction without error, but nothing was replaced",
    );
}

/** Only a recovery may close a turn over an open bracket: the process that had opened it is gone. */
function cross(state: CompactionState, event: RuleEvent): CompactionState {
  if (state.open === null) return initCompaction;
  if (
    event.type === "turn/end" &&
    member(member(event.data, "reason"), "kind") === "interrupted"
  )
    return initCompaction;
  return violate(
    "compaction-bracket",
    "data.turn",
    `crosses the open compaction ${state.open.compactionId}`,
  );
}

function requireMember(
  state: CompactionState,
  event: RuleEvent,
): OpenCompaction {
  const { open } = state;
  const compactionId = textOf(event, "compactionId");
  if (open === null || open.compactionId !== compactionId)
    return violate(
      "compaction-bracket",
      "data.compactionId",
      `is ${compactionId}, which is not the open compaction`,
    );
  if (open.sourceCommandId !== commandOf(event))
    violate(
      "compaction-bracket",
      "data.sourceCommandId",
      "must be the same on all members of a compaction",
    );
  return open;
}

function readRange(event: RuleEvent): {
  readonly start: number;
  readonly end: number;
} {
  const { start, end } = { start: at(event, "start"), end: at(event, "end") };
  const seqs = member(event.data, "shadowedSeqs");
  if (!isSeq(start) || !isSeq(end))
    return violate(
      "compaction-range",
      "data.shadowedRange",
      "must name two seqs",
    );
  if (
    seqs === undefined ||
    !isJsonArray(seqs) ||
    !isDeepStrictEqual([seqs[0], seqs.at(-1)], [start, end])
  )
    violate(
      "compaction-range",
      "data.shadowedSeqs",
      `must begin with ${start} and end with ${end}`,
    );
  if (!isSeq(member(event.data, "shadowedTokenCount")))
    violate(
      "compaction-range",
      "data.shadowedTokenCount",
      "must be a non-negative integer",
    );
  return { start, end };
}

function at(event: RuleEvent, key: string): JsonValue | undefined {
  return member(member(event.data, "shadowedRange"), key);
}

function commandOf(event: RuleEvent): string | null {
  const id = member(event.data, "sourceCommandId");
  return typeof id === "string" ? id : null;
}
