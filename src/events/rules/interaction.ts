/** Questions and their answers: approvals, slash commands, hooks, and code that tools run. */
import { member } from "../event.ts";
import { isSeq } from "../json.ts";
import {
  requireTurn,
  textOf,
  turnOf,
  violate,
  type Brackets,
  type RuleEvent,
} from "./rule-event.ts";

export interface InteractionState {
  /** Ids of approvals that were asked for and not decided. */
  readonly approvals: readonly string[];
  /** Ids of commands that run. */
  readonly commands: readonly string[];
}

export const initInteraction: InteractionState = {
  approvals: [],
  commands: [],
};

/** @throws RuleViolation (rules approval-pairing, command-pairing, hook-turn, outside-turn) */
export function applyInteraction(
  state: InteractionState,
  event: RuleEvent,
  open: Brackets,
): InteractionState {
  switch (event.type) {
    case "approval/asked":
      requireTurn(open);
      return {
        ...state,
        approvals: opened(state.approvals, event, "id", "approval-pairing"),
      };
    case "approval/decided":
      requireTurn(open);
      return {
        ...state,
        approvals: closed(state.approvals, event, "id", "approval-pairing"),
      };
    case "command/run":
      return {
        ...state,
        commands: opened(state.commands, event, "commandId", "command-pairing"),
      };
    case "command/done":
      requireEarlier(event);
      return {
        ...state,
        commands: closed(state.commands, event, "commandId", "command-pairing"),
      };
    case "hook/invoked":
    case "hook/result":
      if (turnOf(event) !== requireTurn(open))
        violate(
          "hook-turn",
          "data.turn",
          `is ${turnOf(event) ?? "none"}, but turn ${open.turn} is open`,
        );
      return state;
    case "tool/code-dispatch-start":
    case "tool/code-dispatch":
      requireTurn(open);
      return state;
    case "session/end-seed":
      return initInteraction;
    default:
      return state;
  }
}

function opened(
  ids: readonly string[],
  event: RuleEvent,
  key: string,
  rule: string,
): readonly string[] {
  const id = textOf(event, key);
  if (ids.includes(id))
    violate(rule, `data.${key}`, `is ${id}, which is open already`);
  return [...ids, id];
}

function closed(
  ids: readonly string[],
  event: RuleEvent,
  key: string,
  rule: string,
): readonly string[] {
  const id = textOf(event, key);
  if (!ids.includes(id))
    violate(rule, `data.${key}`, `is ${id}, which is not open`);
  return ids.filter((open) => open !== id);
}

function requireEarlier(event: RuleEvent): void {
  const source = member(event.data, "sourceEventSeq");
  if (source !== undefined && !(isSeq(source) && source < event.seq))
    violate(
      "command-pairing",
      "data.sourceEventSeq",
      "must be the seq of an earlier event",
    );
}
