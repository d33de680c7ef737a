/** Turns and steps are brackets: numbered from 1, never crossing, and most of what a request leaves stands in one. */
import type { Brackets, RuleEvent } from "./rule-event.ts";
import { requireTurn, stepOf, turnOf, violate } from "./rule-event.ts";

export interface TurnsState extends Brackets {
  readonly nextTurn: number;
  readonly nextStep: number;
}

export const initTurns: TurnsState = {
  turn: null,
  step: null,
  nextTurn: 1,
  nextStep: 1,
};

/** @throws RuleViolation (rules turn-order, step-order, outside-turn, outside-step) */
export function applyTurns(state: TurnsState, event: RuleEvent): TurnsState {
  switch (event.type) {
    case "turn/start":
      return startTurn(state, event);
    case "turn/end":
      return endTurn(state, event);
    case "step/start":
      return startStep(state, event);
    case "step/end":
      requireOwnStep(state, event);
      return { ...state, step: null, nextStep: state.nextStep + 1 };
    case "assistant/chunk":
    case "assistant/message":
    case "tool/call":
      requireOwnStep(state, event);
      return state;
    case "tool/result":
      if (event.surfaceOp === "append") requireOwnStep(state, event);
      else requireTurn(state);
      return state;
    case "todo/write":
    case "request/header":
    case "request/context":
      requireTurn(state);
      return state;
    default:
      return state;
  }
}

/** Where a bracket leaves the log that broke a rule: as if it had been right. */
export function turnsAsNamed(state: TurnsState, event: RuleEvent): TurnsState {
  const turn = turnOf(event) ?? state.nextTurn;
  const step = stepOf(event) ?? state.nextStep;
  switch (event.type) {
    case "turn/start":
      return { turn, step: null, nextTurn: turn, nextStep: 1 };
    case "turn/end":
      return { turn: null, step: null, nextTurn: turn + 1, nextStep: 1 };
    case "step/start":
    case "assistant/chunk":
    case "assistant/message":
    case "tool/call":
      return { turn, step, nextTurn: turn, nextStep: step };
    case "step/end":
      return { turn, step: null, nextTurn: turn, nextStep: step + 1 };
    default:
      return state;
  }
}

function startTurn(state: TurnsState, event: RuleEvent): TurnsState {
  if (state.turn !== null)
    violate(
      "turn-order",
      "data.turn",
      `starts a turn while turn ${state.turn} is open`,
    );
  const turn = turnOf(event);
  if (turn !== state.nextTurn)
    violate(
      "turn-order",
      "data.turn",
      `is ${turn ?? "none"}, but turn ${state.nextTurn} comes next`,
    );
  return {
    turn: state.nextTurn,
    step: null,
    nextTurn: state.nextTurn,
    nextStep: 1,
  };
}

function endTurn(state: TurnsState, event: RuleEvent): TurnsState {
  if (state.turn === null || turnOf(event) !== state.turn)
    violate(
      "turn-order",
      "data.turn",
      `ends turn ${turnOf(event) ?? "none"}, but ${openTurn(state)}`,
    );
  if (state.step !== null)
    violate(
      "turn-order",
      "data.turn",
      `ends the turn while step ${state.step} is open`,
    );
  return { turn: null, step: null, nextTurn: state.nextTurn + 1, nextStep: 1 };
}

function startStep(state: TurnsState, event: RuleEvent): TurnsState {
  if (state.turn === null || turnOf(event) !== state.turn)
    violate(
      "step-order",
      "data.turn",
      `names turn ${turnOf(event) ?? "none"}, but ${openTurn(state)}`,
    );
  if (state.step !== null)
    violate(
      "step-order",
      "data.step",
      `starts a step while step ${state.step} is open`,
    );
  const step = stepOf(event);
  if (step !== state.nextStep)
    violate(
      "step-order",
      "data.step",
      `is ${step ?? "none"}, but step ${state.nextStep} comes next`,
    );
  return { ...state, step };
}

/** The event must name exactly the open turn and step. */
export function requireOwnStep(open: Brackets, event: RuleEvent): void {
  const [turn, step] = [turnOf(event), stepOf(event)];
  if (
    open.turn !== null &&
    open.step !== null &&
    turn === open.turn &&
    step === open.step
  )
    return;
  const where =
    open.step === null
      ? `${openTurn(open)}, and no step`
      : `step ${open.step} of turn ${open.turn} is open`;
  violate(
    "outside-step",
    "data",
    `names step ${step ?? "none"} of turn ${turn ?? "none"}, but ${where}`,
  );
}

function openTurn(open: Brackets): string {
  return open.turn === null ? "no turn is open" : `turn ${open.turn} is open`;
}
