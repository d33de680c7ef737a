/** Tool calls: each call block of an answer, when it was started, and what came of it. */
import { elapsedMs, storableMs } from "../../events/elapsed.ts";
import { member } from "../../events/event.ts";
import type { SessionHeader } from "../../events/header.ts";
import { isJsonArray, seqOrNull, type JsonValue } from "../../events/json.ts";
import { isBlock } from "../../events/message.ts";
import {
  storableText,
  storableTextOrNull,
  textOfContent,
} from "../../events/text.ts";
import type { ProjectedEvent, Rows } from "../../projector/projection.ts";
import type { toolCallsTable } from "./tables.ts";

interface PendingCall {
  readonly callId: string;
  readonly seq: number;
  readonly ordinal: number;
  readonly startedMs: number | null;
}

export interface ToolCallsState {
  /** Events below this are the parent's. */
  readonly seedLength: number;
  /** Calls without a result in the open turn, in the order they were asked for. */
  readonly pending: readonly PendingCall[];
}

type CallRows = Rows<{ readonly toolCalls: typeof toolCallsTable }>;

export const initToolCalls = (header: SessionHeader): ToolCallsState => ({
  seedLength: header.seedLength ?? 0,
  pending: [],
});

export function applyToolCalls(
  state: ToolCallsState,
  event: ProjectedEvent,
  rows: CallRows,
): ToolCallsState {
  switch (event.type) {
    case "turn/start":
    case "turn/end":
      return giveUp(state, event, rows);
    case "assistant/message":
      return event.surfaceOp === "append"
        ? applyAnswer(state, event, rows)
        : state;
    case "tool/call":
      return applyStart(state, event, rows);
    case "tool/result":
      return event.surfaceOp === "append"
        ? applyResult(state, event, rows)
        : state;
    default:
      return state;
  }
}

function applyAnswer(
  state: ToolCallsState,
  event: ProjectedEvent,
  rows: CallRows,
): ToolCallsState {
  const content = member(member(event.data, "message"), "content");
  const blocks =
    content !== undefined && isJsonArray(content)
      ? content.filter((block) => isBlock(block, "tool-call"))
      : [];
  const asked = blocks.flatMap((block, at) => {
    const callId = member(block, "id");
    if (typeof callId !== "string") return [];
    const call = { callId, seq: event.seq, ordinal: at + 1, startedMs: null };
    rows.toolCalls.upsert({ ...newRow(state, event, call), ...textsOf(block) });
    return [call];
  });
  return { ...state, pending: [...state.pending, ...asked] };
}

/** The first call of this id that has not been started; one that no answer asked for is known by this event alone. */
function applyStart(
  state: ToolCallsState,
  event: ProjectedEvent,
  rows: CallRows,
): ToolCallsState {
  const callId = member(event.data, "callId");
  if (typeof callId !== "string") return state;
  const startedMs = event.time;
  const asked = state.pending.find(
    (call) => call.callId === callId && call.startedMs === null,
  );
  if (asked === undefined) {
    const call = { callId, seq: event.seq, ordinal: 1, startedMs };
    rows.toolCalls.upsert({
      ...newRow(state, event, call),
      ...textsOf(event.data),
      callSeq: event.seq,
      startedMs,
    });
    return { ...state, pending: [...state.pending, call] };
  }
  rows.toolCalls.update({
    ...keyOf(event.sessionId, asked),
    callSeq: event.seq,
    startedMs,
  });
  const pending = state.pending.map((call) =>
    call === asked ? { ...call, startedMs } : call,
  );
  return { ...state, pending };
}

function applyResult(
  state: ToolCallsState,
  event: ProjectedEvent,
  rows: CallRows,
): ToolCallsState {
  const message = member(event.data, "message");
  const callId = member(member(message, "source"), "callId");
  const call = state.pending.find((one) => one.callId === callId);
  if (call === undefined) return state;
  const { startedMs } = call;
  rows.toolCalls.update({
    ...keyOf(event.sessionId, call),
    resultSeq: event.seq,
    durationMs:
      startedMs === null ? null : storableMs(elapsedMs(startedMs, event.time)),
    outcome: outcomeOf(event.data),
    errorCode: storableTextOrNull(member(member(event.data, "error"), "code")),
    resultText: textOfContent(member(message, "content")),
  });
  return { ...state, pending: state.pending.filter((one) => one !== call) };
}

/** A turn that ends, or begins over an unfinished one, leaves no call that a result could still come for. */
function giveUp(
  state: ToolCallsState,
  event: ProjectedEvent,
  rows: CallRows,
): ToolCallsState {
  for (const call of state.pending)
    rows.toolCalls.update({
      ...keyOf(event.sessionId, call),
      outcome: call.startedMs === null ? "not_started" : "interrupted",
    });
  return state.pending.length === 0 ? state : { ...state, pending: [] };
}

const NOT_STARTED: ReadonlySet<JsonValue> = new Set([
  "ABORTED_BEFORE_DISPATCH",
  "TOOL_NOT_STARTED",
]);
const CUT_OFF: ReadonlySet<JsonValue> = new Set([
  "ABORTED",
  "TOOL_OUTCOME_UNKNOWN",
]);

function outcomeOf(data: JsonValue): string {
  const error = member(data, "error");
  const code = member(error, "code") ?? null;
  if (NOT_STARTED.has(code)) return "not_started";
  if (CUT_OFF.has(code) || member(data, "interrupted") === true)
    return "interrupted";
  const content = member(member(data, "message"), "content");
  const isFailed =
    content !== undefined &&
    isJsonArray(content) &&
    content.some((block) => member(block, "isError") === true);
  return isFailed || (error ?? null) !== null ? "error" : "ok";
}

function newRow(
  state: ToolCallsState,
  event: ProjectedEvent,
  call: PendingCall,
) {
  return {
    ...keyOf(event.sessionId, call),
    turn: seqOrNull(member(event.data, "turn")),
    step: seqOrNull(member(event.data, "step")),
    callId: storableText(call.callId),
    inherited: event.seq < state.seedLength,
    callSeq: null,
    resultSeq: null,
    startedMs: null,
    durationMs: null,
    outcome: "pending",
    errorCode: null,
    resultText: null,
  };
}

function textsOf(value: JsonValue) {
  return {
    name: storableTextOrNull(member(value, "name")) ?? "",
    arguments: storableTextOrNull(member(value, "arguments")) ?? "",
  };
}

function keyOf(sessionId: string, { seq, ordinal }: PendingCall) {
  return { sessionId, seq, ordinal };
}
