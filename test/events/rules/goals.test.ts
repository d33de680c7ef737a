import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { prompt } from "../../support/events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const RULE = "goal-change";
const BLOCKED = {
  phase: "blocked",
  blockedReason: { code: "no-access", message: "no access" },
};
const CREATED = [change("create")];
const PAUSED = { revision: 2, phase: "paused" };
const ONE_ROUND = { roundsStarted: 1 };

describe("a goal", () => {
  it("goes through all its phases", () => {
    const more = { objective: "more" };
    const two = { roundsStarted: 2 };

    expect(
      findingsOf([
        ...CREATED,
        round(1),
        change("edit", { ...more, revision: 2 }, ONE_ROUND),
        change("pause", { ...more, revision: 3, phase: "paused" }, ONE_ROUND),
        change("resume", { ...more, revision: 4 }, ONE_ROUND),
        round(2, { revision: 4 }),
        change("block", { ...more, revision: 5, ...BLOCKED }, two),
        change("complete", { ...more, revision: 6, phase: "complete" }, two),
        change("create", { id: "h" }),
        clear({ id: "h", revision: 2 }),
        change("create", { id: "i" }),
      ]),
    ).toEqual([]);
  });

  it.each<Case>([
    [
      "is not created while there is another",
      CREATED,
      change("create", { id: "h" }),
      RULE,
      "data.operation",
      clear({ revision: 2 }),
    ],
    [
      "is not created under the id of the one before",
      [...CREATED, change("complete", { revision: 2, phase: "complete" })],
      change("create"),
      RULE,
      "data.goal.id",
      change("create", { id: "h" }),
    ],
    [
      "begins at revision 1",
      [],
      change("create", { revision: 2 }),
      RULE,
      "data.goal",
      change("create"),
    ],
    [
      "begins active",
      [],
      change("create", { phase: "paused" }),
      RULE,
      "data.goal",
      change("create"),
    ],
    [
      "begins without rounds",
      [],
      change("create", {}, ONE_ROUND),
      RULE,
      "data.goal",
      change("create"),
    ],
    [
      "is changed when there is one",
      [],
      change("pause", PAUSED),
      RULE,
      "data.goal.id",
      change("create"),
    ],
    [
      "is changed under its id",
      CREATED,
      change("pause", { ...PAUSED, id: "h" }),
      RULE,
      "data.goal.id",
      change("pause", PAUSED),
    ],
    [
      "is changed by one revision",
      CREATED,
      change("pause", { ...PAUSED, revision: 3 }),
      RULE,
      "data.goal.revision",
      change("pause", PAUSED),
    ],
    [
      "keeps the time of its creation",
      CREATED,
      change("pause", PAUSED, { createdAt: 9 }),
      RULE,
      "data",
      change("pause", PAUSED),
    ],
    [
      "keeps its rounds",
      [...CREATED, round(1)],
      change("pause", PAUSED),
      RULE,
      "data",
      change("pause", PAUSED, ONE_ROUND),
    ],
    [
      "is not changed before it was changed last",
      [change("create", {}, { updatedAt: 20 })],
      change("pause", PAUSED, { updatedAt: 19 }),
      RULE,
      "data.updatedAt",
      change("pause", PAUSED, { updatedAt: 20 }),
    ],
    [
      "changes its objective by an edit only",
      CREATED,
      change("pause", { ...PAUSED, objective: "other" }),
      RULE,
      "data.goal",
      change("edit", { revision: 2, objective: "other" }),
    ],
    [
      "changes its rounds by an edit only",
      CREATED,
      change("pause", { ...PAUSED, maxGoalRounds: 9 }),
      RULE,
      "data.goal",
      change("edit", { revision: 2, maxGoalRounds: 9 }),
    ],
    [
      "is not resumed without rounds left",
      [
        change("create", { maxGoalRounds: 1 }),
        round(1),
        change("pause", { ...PAUSED, maxGoalRounds: 1 }, ONE_ROUND),
      ],
      change("resume", { revision: 3, maxGoalRounds: 1 }, ONE_ROUND),
      RULE,
      "data.operation",
      change("edit", { ...PAUSED, revision: 3, maxGoalRounds: 2 }, ONE_ROUND),
    ],
    [
      "is cleared when there is one",
      [],
      clear({ revision: 2 }),
      RULE,
      "data.cleared",
      change("create"),
    ],
    [
      "is cleared under its id",
      CREATED,
      clear({ id: "h", revision: 2 }),
      RULE,
      "data.cleared",
      clear({ revision: 2 }),
    ],
    [
      "is cleared by one revision",
      CREATED,
      clear({ revision: 1 }),
      RULE,
      "data.cleared",
      clear({ revision: 2 }),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });
});

describe("the phase of a goal", () => {
  const PHASES = ["active", "paused", "blocked", "complete"] as const;

  it.each<[operation: string, moves: readonly string[]]>([
    ["edit", PHASES.map((phase) => `${phase} to ${phase}`)],
    ["pause", ["active to paused"]],
    ["resume", ["active to active", "paused to active", "blocked to active"]],
    [
      "complete",
      ["active to complete", "paused to complete", "blocked to complete"],
    ],
    ["block", ["active to blocked"]],
  ])("moves by %s as it may and no other way", (operation, moves) => {
    const every = PHASES.flatMap((from) => PHASES.map((to) => ({ from, to })));
    const legal = every.filter(({ from, to }) => {
      const moved = change(operation, { revision: 3, ...inPhase(to) });
      return findingsOf([...reach(from), moved]).length === 0;
    });

    expect(legal.map(({ from, to }) => `${from} to ${to}`)).toEqual(moves);
  });

  it("is what a finding names", () => {
    expectOnlyBadToBeRefused(
      "",
      reach("paused"),
      change("block", { revision: 3, ...BLOCKED }),
      RULE,
      "data.goal.phase",
      change("resume", { revision: 3 }),
    );
  });
});

describe("a round of a goal", () => {
  it.each<Case>([
    ["needs a goal", [], round(1), RULE, "data.source", change("create")],
    ["is counted from 1", CREATED, round(2), RULE, "data.source", round(1)],
    [
      "is not counted twice",
      [...CREATED, round(1)],
      round(1),
      RULE,
      "data.source",
      round(2),
    ],
    [
      "names the goal",
      CREATED,
      round(1, { goalId: "h" }),
      RULE,
      "data.source",
      round(1),
    ],
    [
      "names the revision",
      CREATED,
      round(1, { revision: 2 }),
      RULE,
      "data.source",
      round(1),
    ],
    [
      "begins while the goal is active",
      reach("paused"),
      round(1, { revision: 2 }),
      RULE,
      "data.source",
      change("resume", { revision: 3 }),
    ],
    [
      "is within the most of the goal",
      [change("create", { maxGoalRounds: 1 }), round(1)],
      round(2),
      RULE,
      "data.source",
      change("edit", { revision: 2, maxGoalRounds: 2 }, ONE_ROUND),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("is no prompt of a person, and no message that replaces another", () => {
    const replaced: NewEvent = {
      ...round(7),
      surfaceOp: { op: "replace", start: 0, end: 0 },
      sourceEventSeqs: [0],
    };

    expect(findingsOf([prompt("hi"), replaced])).toEqual([]);
  });
});

describe("one slip in a goal is one finding", () => {
  it("of a revision left out", () => {
    const log = [
      ...CREATED,
      change("edit", { revision: 3 }),
      change("edit", { revision: 4 }),
      round(1, { revision: 4 }),
    ];

    expect(findingsOf(log).map(([seq]) => seq)).toEqual([1]);
  });

  it("of a creation left out", () => {
    const log = [
      change("edit", { revision: 2 }),
      change("edit", { revision: 3 }),
      round(1, { revision: 3 }),
    ];

    expect(findingsOf(log).map(([seq]) => seq)).toEqual([0]);
  });
});

function inPhase(phase: string): object {
  return phase === "blocked" ? BLOCKED : { phase };
}

/** A goal at revision 2 in the phase. */
function reach(phase: string): NewEvent[] {
  const operations = new Map([
    ["active", "edit"],
    ["paused", "pause"],
    ["blocked", "block"],
  ]);
  const operation = operations.get(phase) ?? phase;
  const goal = { revision: 2, ...inPhase(phase) };
  return [change("create"), change(operation, goal)];
}

function change(
  operation: string,
  goal: object = {},
  more: object = {},
): NewEvent {
  const whole = {
    id: "g",
    revision: 1,
    objective: "all",
    phase: "active",
    maxGoalRounds: 5,
    ...goal,
  };
  const times = { roundsStarted: 0, createdAt: 10, updatedAt: 10 };
  const kind = { kind: "goal/change", version: 1, operation };
  const data = { ...kind, goal: whole, ...times, ...more };
  return { type: "goal/change", data };
}

function clear(cleared: object): NewEvent {
  const kind = { kind: "goal/change", version: 1, operation: "clear" };
  const data = { ...kind, cleared: { id: "g", ...cleared }, clearedAt: 10 };
  return { type: "goal/change", data };
}

/** The message that begins a round. */
function round(number: number, more: object = {}): NewEvent {
  const goal = { kind: "goal", goalId: "g", revision: 1, round: number };
  const source = { ...goal, ...more };
  return {
    type: "user/message",
    data: { id: "m", role: "user", content: [], source },
    surfaceOp: "append",
  };
}
