/** A goal changes by whole revisions: each one follows from the one before. */
import { member } from "../event.ts";
import {
  isJsonObject,
  isSeq,
  type JsonObject,
  type JsonValue,
} from "../json.ts";
import { textOf, violate, type RuleEvent } from "./rule-event.ts";

export interface GoalState {
  readonly id: string;
  readonly revision: number;
  readonly phase: string;
  readonly objective: string;
  readonly maxGoalRounds: number;
  readonly roundsStarted: number;
  readonly createdAt: JsonValue;
  readonly updatedAt: number;
}

/** @throws RuleViolation (rule goal-change) */
export function applyGoals(
  state: GoalState | null,
  event: RuleEvent,
): GoalState | null {
  if (event.type === "user/message") return startRound(state, event);
  if (event.type !== "goal/change" || !isJsonObject(event.data)) return state;
  const { operation } = event.data;
  if (operation === "clear") return clear(state, event.data);
  return operation === "create"
    ? create(state, event.data)
    : change(state, event.data, textOf(event, "operation"));
}

/** Where an event leaves the goal that it broke a rule of: as it says. */
export function goalAsNamed(
  state: GoalState | null,
  event: RuleEvent,
): GoalState | null {
  if (event.type === "user/message") {
    const round = member(member(event.data, "source"), "round");
    return state === null || !isSeq(round)
      ? state
      : { ...state, roundsStarted: round };
  }
  if (!isJsonObject(event.data) || event.data["operation"] === "clear")
    return null;
  const { goal } = event.data;
  return member(goal, "id") === undefined ? state : readGoal(event.data);
}

function startRound(
  state: GoalState | null,
  event: RuleEvent,
): GoalState | null {
  const source = member(event.data, "source");
  if (member(source, "kind") !== "goal" || event.surfaceOp !== "append")
    return state;
  const due = (state?.roundsStarted ?? 0) + 1;
  const isDue =
    state?.phase === "active" &&
    member(source, "goalId") === state.id &&
    member(source, "revision") === state.revision &&
    member(source, "round") === due &&
    due <= state.maxGoalRounds;
  if (state === null || !isDue)
    return fail("data.source", `must be round ${due} of the active goal`);
  return { ...state, roundsStarted: due };
}

function create(state: GoalState | null, data: JsonObject): GoalState {
  const next = readGoal(data);
  if (state !== null && state.phase !== "complete")
    fail(
      "data.operation",
      `creates a goal while ${state.id} is ${state.phase}`,
    );
  if (state?.id === next.id) fail("data.goal.id", "must be a new one");
  if (
    next.revision !== 1 ||
    next.phase !== "active" ||
    next.roundsStarted !== 0
  )
    fail("data.goal", "must begin active, at revision 1, with no rounds");
  return next;
}

/** Phases that an operation may start from, and the one it leads to; null keeps the phase. */
const MOVES: Readonly<
  Record<
    string,
    { readonly from: readonly string[]; readonly to: string | null }
  >
> = {
  edit: { from: ["active", "paused", "blocked", "complete"], to: null },
  pause: { from: ["active"], to: "paused" },
  resume: { from: ["active", "paused", "blocked"], to: "active" },
  complete: { from: ["active", "paused", "blocked"], to: "complete" },
  block: { from: ["active"], to: "blocked" },
};

function change(
  state: GoalState | null,
  data: JsonObject,
  operation: string,
): GoalState {
  const next = readGoal(data);
  const move = Object.hasOwn(MOVES, operation) ? MOVES[operation] : undefined;
  if (move === undefined)
    return fail("data.operation", `is ${operation}, which is none`);
  if (state === null || next.id !== state.id)
    return fail("data.goal.id", `is ${next.id}, which is not the current goal`);
  if (next.revision !== state.revision + 1)
    fail(
      "data.goal.revision",
      `is ${next.revision}, but ${state.revision + 1} comes next`,
    );
  if (
    next.createdAt !== state.createdAt ||
    next.roundsStarted !== state.roundsStarted
  )
    fail("data", "must keep createdAt and roundsStarted");
  if (next.updatedAt < state.updatedAt)
    fail("data.updatedAt", "must not go back");
  if (
    !move.from.includes(state.phase) ||
    next.phase !== (move.to ?? state.phase)
  )
    fail(
      "data.goal.phase",
      `can't go from ${state.phase} to ${next.phase} by ${operation}`,
    );
  if (
    operation !== "edit" &&
    (next.objective !== state.objective ||
      next.maxGoalRounds !== state.maxGoalRounds)
  )
    fail("data.goal", "may change its objective and rounds by an edit only");
  if (operation === "resume" && state.roundsStarted >= state.maxGoalRounds)
    fail("data.operation", "resumes a goal that has no rounds left");
  return next;
}

function clear(state: GoalState | null, data: JsonObject): null {
  const cleared = data["cleared"];
  if (
    state === null ||
    member(cleared, "id") !== state.id ||
    member(cleared, "revision") !== state.revision + 1
  )
    fail("data.cleared", "must name the current goal and its next revision");
  return null;
}

function readGoal(data: JsonObject): GoalState {
  const { goal, roundsStarted, createdAt = null, updatedAt } = data;
  const [id, phase, objective] = ["id", "phase", "objective"].map((key) =>
    member(goal, key),
  );
  const [revision, maxGoalRounds] = ["revision", "maxGoalRounds"].map((key) =>
    member(goal, key),
  );
  if (
    typeof id !== "string" ||
    typeof phase !== "string" ||
    typeof objective !== "string" ||
    !isSeq(revision)
  )
    return fail(
      "data.goal",
      "must have an id, a revision, a phase and an objective",
    );
  if (
    !isSeq(maxGoalRounds) ||
    !isSeq(roundsStarted) ||
    typeof updatedAt !== "number"
  )
    return fail("data", "must have maxGoalRounds, roundsStarted and updatedAt");
  return {
    id,
    revision,
    phase,
    objective,
    maxGoalRounds,
    roundsStarted,
    createdAt,
    updatedAt,
  };
}

function fail(path: string, reason: string): never {
  return violate("goal-change", path, reason);
}
