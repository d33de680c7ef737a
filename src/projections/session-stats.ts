/**
 * The reference harness' `sessionStats`: counts and times of steps and calls; differences are never negative. The list
 * of sessions shows them of the whole log, the list of turns those of each turn.
 */
import { member } from "../events/event.ts";
import type { JsonValue } from "../events/json.ts";
import { elapsedMs } from "../events/elapsed.ts";
import { usageOfEvent } from "../events/token-usage.ts";
import type { ProjectedEvent } from "../projector/projection.ts";

interface SessionStats {
  /** Distinct turns with at least one ended step. */
  readonly turns: number;
  readonly steps: number;
  /** From a step's start to its first assembled message, in ms. */
  readonly llmMs: number;
  /** From calls to their results, in ms. */
  readonly toolMs: number;
  /** From a step's start to its first token, in ms, and of how many steps. */
  readonly ttftMs: number;
  readonly ttftSteps: number;
  /** From first token to message, in ms, and the output tokens of those steps. */
  readonly decodeMs: number;
  readonly decodeTokens: number;
}

interface OpenStep {
  readonly turn: JsonValue;
  readonly step: JsonValue;
  readonly startMs: number;
  readonly firstTokenMs: number | null;
  readonly isAssembled: boolean;
}

export interface SessionStatsState {
  readonly stats: SessionStats;
  readonly openStep: OpenStep | null;
  /** Turn that the last ended step belonged to. */
  readonly countedTurn: JsonValue;
  /** Calls without a result yet: id and time. */
  readonly pendingCalls: readonly (readonly [callId: string, timeMs: number])[];
}

export const initSessionStats: SessionStatsState = {
  stats: {
    turns: 0,
    steps: 0,
    llmMs: 0,
    toolMs: 0,
    ttftMs: 0,
    ttftSteps: 0,
    decodeMs: 0,
    decodeTokens: 0,
  },
  openStep: null,
  countedTurn: null,
  pendingCalls: [],
};

/** True while the first token of a step is awaited: only then do deltas matter. */
export function awaitsFirstToken(state: SessionStatsState): boolean {
  return state.openStep !== null && state.openStep.firstTokenMs === null;
}

export function applySessionStats(
  state: SessionStatsState,
  event: ProjectedEvent,
): SessionStatsState {
  switch (event.type) {
    case "step/start":
      return { ...state, openStep: openStep(event) };
    case "assistant/chunk":
      return applyChunk(state, event);
    case "assistant/message":
      return applyMessage(state, event);
    case "tool/call":
      return applyCall(state, event);
    case "tool/result":
      return applyResult(state, event);
    case "step/end":
      return applyStepEnd(state, event);
    case "turn/end":
      return { ...state, pendingCalls: [], openStep: null };
    default:
      return state;
  }
}

function openStep(event: ProjectedEvent): OpenStep {
  const turn = member(event.data, "turn") ?? null;
  const step = member(event.data, "step") ?? null;
  return {
    turn,
    step,
    startMs: event.time,
    firstTokenMs: null,
    isAssembled: false,
  };
}

function applyChunk(
  state: SessionStatsState,
  event: ProjectedEvent,
): SessionStatsState {
  const step = ownStep(state, event);
  if (
    step === null ||
    step.firstTokenMs !== null ||
    !isToken(member(event.data, "chunk"))
  )
    return state;
  return { ...state, openStep: { ...step, firstTokenMs: event.time } };
}

function applyMessage(
  state: SessionStatsState,
  event: ProjectedEvent,
): SessionStatsState {
  const step = ownStep(state, event);
  if (step === null || step.isAssembled) return state;
  const { stats } = state;
  const next = {
    ...stats,
    llmMs: stats.llmMs + elapsedMs(step.startMs, event.time),
  };
  return {
    ...state,
    openStep: { ...step, isAssembled: true },
    stats:
      step.firstTokenMs === null
        ? next
        : withFirstToken(next, step.startMs, step.firstTokenMs, event),
  };
}

function withFirstToken(
  stats: SessionStats,
  startMs: number,
  firstTokenMs: number,
  event: ProjectedEvent,
): SessionStats {
  const next = {
    ...stats,
    ttftMs: stats.ttftMs + elapsedMs(startMs, firstTokenMs),
    ttftSteps: stats.ttftSteps + 1,
  };
  const outputTokens = usageOfEvent(event)?.outputTokens ?? null;
  if (outputTokens === null) return next;
  return {
    ...next,
    decodeMs: stats.decodeMs + elapsedMs(firstTokenMs, event.time),
    decodeTokens: stats.decodeTokens + outputTokens,
  };
}

function applyCall(
  state: SessionStatsState,
  event: ProjectedEvent,
): SessionStatsState {
  const callId = member(event.data, "callId");
  if (typeof callId !== "string") return state;
  const others = state.pendingCalls.filter(([pending]) => pending !== callId);
  return { ...state, pendingCalls: [...others, [callId, event.time]] };
}

function applyResult(
  state: SessionStatsState,
  event: ProjectedEvent,
): SessionStatsState {
  const callId = member(
    member(member(event.data, "message"), "source"),
    "callId",
  );
  const call = state.pendingCalls.find(([pending]) => pending === callId);
  if (call === undefined) return state;
  const { stats } = state;
  return {
    ...state,
    stats: { ...stats, toolMs: stats.toolMs + elapsedMs(call[1], event.time) },
    pendingCalls: state.pendingCalls.filter((pending) => pending !== call),
  };
}

function applyStepEnd(
  state: SessionStatsState,
  event: ProjectedEvent,
): SessionStatsState {
  const turn = member(event.data, "turn") ?? null;
  const { stats } = state;
  return {
    ...state,
    openStep: null,
    countedTurn: turn,
    stats: {
      ...stats,
      steps: stats.steps + 1,
      turns: stats.turns + (turn === state.countedTurn ? 0 : 1),
    },
  };
}

function ownStep(
  state: SessionStatsState,
  event: ProjectedEvent,
): OpenStep | null {
  const { openStep: step } = state;
  const isOwn =
    step?.turn === member(event.data, "turn") &&
    step?.step === member(event.data, "step");
  return isOwn ? step : null;
}

/** The first of these is the first token: text that is not empty, or a tool call's name or arguments. */
function isToken(chunk: JsonValue | undefined): boolean {
  const isText = (key: string): boolean => {
    const text = member(chunk, key);
    return typeof text === "string" && text !== "";
  };
  const type = member(chunk, "type");
  if (type === "text-delta" || type === "reasoning-delta")
    return isText("text");
  return (
    type === "tool-call-delta" &&
    (member(chunk, "name") !== undefined || isText("argumentsDelta"))
  );
}
