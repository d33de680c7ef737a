/** A fresh tool result answers a call of its own step, once. */
import { member } from "../event.ts";
import { isJsonArray } from "../json.ts";
import { textOf, violate, type RuleEvent } from "./rule-event.ts";

/** Ids of calls in the open step that have no result yet; two calls of one id are one entry. */
export type ToolsState = readonly string[];

export const initTools: ToolsState = [];

/** @throws RuleViolation (rule tool-pairing) */
export function applyTools(state: ToolsState, event: RuleEvent): ToolsState {
  switch (event.type) {
    case "tool/call": {
      const callId = textOf(event, "callId");
      return state.includes(callId) ? state : [...state, callId];
    }
    case "tool/result":
      return event.surfaceOp === "append" ? settle(state, event) : state;
    case "step/end":
    case "turn/end":
      return initTools;
    default:
      return state;
  }
}

function settle(state: ToolsState, event: RuleEvent): ToolsState {
  const callId = member(
    member(member(event.data, "message"), "source"),
    "callId",
  );
  const isPending = typeof callId === "string" && state.includes(callId);
  if (!isPending && !neverStarted(event))
    violate(
      "tool-pairing",
      "data.message.source.callId",
      `is ${JSON.stringify(callId ?? null)}, which is no unanswered call of this step`,
    );
  return state.filter((pending) => pending !== callId);
}

/** A result that says its call was never recorded needs none. */
function neverStarted(event: RuleEvent): boolean {
  const content = member(member(event.data, "message"), "content");
  const block =
    content !== undefined && isJsonArray(content) ? content[0] : undefined;
  return (
    member(block, "isError") === true &&
    member(member(event.data, "error"), "code") === "TOOL_NOT_STARTED"
  );
}
