/** Derived messages: every message with where it stands on the surface, and whether a person saw it. */
import { LogCorruptError } from "../../errors.ts";
import { member } from "../../events/event.ts";
import { isInterrupted } from "../../events/interrupted.ts";
import { isJsonArray, seqOrNull, type JsonValue } from "../../events/json.ts";
import { stringifyJson } from "../../events/stringify-json.ts";
import {
  appendNode,
  EMPTY_SURFACE,
  placeOf,
  replaceNodes,
  shadowedNodes,
  type Surface,
} from "../../events/surface.ts";
import { storableTextOrNull, textOfContent } from "../../events/text.ts";
import type { ProjectedEvent, Rows } from "../../projector/projection.ts";
import type { messagesTable } from "./tables.ts";

export interface MessagesState {
  readonly surface: Surface;
  /** Open turn and step; null outside of them. */
  readonly turn: number | null;
  readonly step: number | null;
}

type MessageRows = Rows<{ readonly messages: typeof messagesTable }>;

export const initMessages = (): MessagesState => ({
  surface: EMPTY_SURFACE,
  turn: null,
  step: null,
});

export function applyMessages(
  state: MessagesState,
  event: ProjectedEvent,
  rows: MessageRows,
): MessagesState {
  switch (event.type) {
    case "turn/start":
      return {
        ...state,
        turn: seqOrNull(member(event.data, "turn")),
        step: null,
      };
    case "turn/end":
      return { ...state, turn: null, step: null };
    case "step/start":
      return { ...state, step: seqOrNull(member(event.data, "step")) };
    case "step/end":
      return { ...state, step: null };
    case "user/message":
    case "assistant/message":
    case "tool/result":
      return applySurfaceEvent(state, event, rows);
    default:
      return state;
  }
}

function applySurfaceEvent(
  state: MessagesState,
  event: ProjectedEvent,
  rows: MessageRows,
): MessagesState {
  const { surfaceOp, seq, sessionId } = event;
  if (surfaceOp === undefined || surfaceOp === "append") {
    rows.messages.upsert({
      ...rowOf(state, event),
      orderKey: seq,
      inTranscript: true,
    });
    return { ...state, surface: appendNode(state.surface, seq) };
  }
  const shadowed = shadowedNodes(state.surface, surfaceOp);
  if (typeof shadowed === "string")
    throw new LogCorruptError(`Event ${seq} can't replace: ${shadowed}.`);
  for (const node of shadowed) {
    rows.messages.update({
      sessionId,
      seq: node,
      onSurface: false,
      replacedBySeq: seq,
    });
  }
  const surface = replaceNodes(state.surface, shadowed, seq);
  rows.messages.upsert({
    ...rowOf(state, event),
    orderKey: placeOf(surface, seq),
    inTranscript: false,
  });
  return { ...state, surface };
}

/** Everything of a row but where it stands. */
function rowOf(state: MessagesState, event: ProjectedEvent) {
  const isUserMessage = event.type === "user/message";
  const message = isUserMessage ? event.data : member(event.data, "message");
  const source = member(message, "source");
  const content = member(message, "content");
  return {
    sessionId: event.sessionId,
    seq: event.seq,
    turn: isUserMessage ? state.turn : seqOrNull(member(event.data, "turn")),
    step: isUserMessage ? state.step : seqOrNull(member(event.data, "step")),
    role: storableTextOrNull(member(message, "role")) ?? "",
    sourceKind: storableTextOrNull(member(source, "kind")) ?? "",
    // An assistant message without any content only carries the usage of its step: a node, but nothing to see.
    onSurface: !(event.type === "assistant/message" && isEmptyList(content)),
    replacedBySeq: null,
    interrupted: isInterrupted(event.data),
    text: textOfContent(content),
    content: stringifyJson(content ?? []),
    provider: storableTextOrNull(member(source, "provider")),
    model: storableTextOrNull(member(source, "model")),
    timeMs: event.time,
  };
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return value !== undefined && isJsonArray(value) && value.length === 0;
}
