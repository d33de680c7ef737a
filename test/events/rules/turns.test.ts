import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { deltas, note, openStep, prompt } from "../../support/events.ts";
import { answer, toolCall, toolResult } from "../../support/request-events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const ORDER = ["turn-order", "data.turn"] as const;

const END_SEED: NewEvent = { type: "session/end-seed", data: {} };

describe("turns", () => {
  it.each<Case>([
    ["begin with 1", [], turn(2), "turn-order", "data.turn", turn(1)],
    ["are not numbered twice", oneTurn(), turn(1), ...ORDER, turn(2)],
    ["leave no number out", oneTurn(), turn(3), ...ORDER, turn(2)],
    ["do not begin in an open turn", [turn(1)], turn(2), ...ORDER, turnEnd(1)],
    ["end when they are open", oneTurn(), turnEnd(1), ...ORDER, turn(2)],
    ["end under their own number", [turn(1)], turnEnd(2), ...ORDER, turnEnd(1)],
    [
      "do not end over an open step",
      openStep(),
      turnEnd(1),
      ...ORDER,
      stepEnd(1, 1),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("may be open when the log ends", () => {
    expect(findingsOf([turn(1)])).toEqual([]);
    expect(findingsOf([...openStep(), toolCall("c1")])).toEqual([]);
  });

  it("go on with the inherited numbers in a fork", () => {
    const inherited = [...oneTurn(), END_SEED];
    const header = { seedLength: 2 };

    expect(findingsOf([...inherited, turn(1)], header)).toEqual([
      [3, "turn-order", "data.turn"],
    ]);
    expect(findingsOf([...inherited, turn(2)], header)).toEqual([]);
  });
});

describe("steps", () => {
  it.each<Case>([
    ["begin in a turn", [], step(1, 1), "step-order", "data.turn", turn(1)],
    [
      "begin in their own turn",
      [turn(1)],
      step(2, 1),
      "step-order",
      "data.turn",
      step(1, 1),
    ],
    [
      "do not begin in an open step",
      openStep(),
      step(1, 2),
      "step-order",
      "data.step",
      stepEnd(1, 1),
    ],
    [
      "begin with 1",
      [turn(1)],
      step(1, 2),
      "step-order",
      "data.step",
      step(1, 1),
    ],
    [
      "are not numbered twice",
      [...openStep(), stepEnd(1, 1)],
      step(1, 1),
      "step-order",
      "data.step",
      step(1, 2),
    ],
    [
      "leave no number out",
      [...openStep(), stepEnd(1, 1)],
      step(1, 3),
      "step-order",
      "data.step",
      step(1, 2),
    ],
    [
      "begin with 1 again in the next turn",
      [...openStep(), stepEnd(1, 1), turnEnd(1), turn(2)],
      step(2, 2),
      "step-order",
      "data.step",
      step(2, 1),
    ],
    [
      "end when they are open",
      [turn(1)],
      stepEnd(1, 1),
      "outside-step",
      "data",
      step(1, 1),
    ],
    [
      "end under their own number",
      openStep(),
      stepEnd(1, 2),
      "outside-step",
      "data",
      stepEnd(1, 1),
    ],
    [
      "end under the number of their turn",
      openStep(),
      stepEnd(2, 1),
      "outside-step",
      "data",
      stepEnd(1, 1),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });
});

describe.each<[type: string, event: NewEvent]>([
  ["assistant/chunk", deltas(["yo"])[0] ?? note()],
  ["assistant/message", answer([])],
  ["tool/call", toolCall("c1")],
  ["a new tool/result", neverStarted()],
])("%s", (_type, event) => {
  it.each<[where: string, log: readonly NewEvent[], legal: NewEvent]>([
    ["between turns", oneTurn(), turn(2)],
    ["between steps", [...openStep(), stepEnd(1, 1)], step(1, 2)],
    [
      "in another step",
      [...openStep(), stepEnd(1, 1), step(1, 2)],
      stepEnd(1, 2),
    ],
    [
      "in another turn",
      [...openStep(), stepEnd(1, 1), turnEnd(1), turn(2), step(2, 1)],
      stepEnd(2, 1),
    ],
  ])("must stand in the step it names, and not %s", (_where, log, legal) => {
    expectOnlyBadToBeRefused("", log, event, "outside-step", "data", legal);
  });

  it("may stand in the step it names", () => {
    expect(findingsOf([...openStep(), event])).toEqual([]);
  });
});

describe("a rewritten tool/result", () => {
  const answered = [
    ...openStep(),
    toolCall("c1"),
    toolResult("c1", "long"),
    stepEnd(1, 1),
    turnEnd(1),
  ];
  const rewritten: NewEvent = {
    ...toolResult("c1", "short"),
    surfaceOp: { op: "replace", start: 3, end: 3 },
    sourceEventSeqs: [3],
  };

  it("must stand in a turn", () => {
    expectOnlyBadToBeRefused(
      "",
      answered,
      rewritten,
      "outside-turn",
      "",
      turn(2),
    );
  });

  it("keeps the numbers of its original in any turn, in a step or not", () => {
    const [between, within] = [[turn(2)], [turn(2), step(2, 1)]];

    expect(findingsOf([...answered, ...between, rewritten])).toEqual([]);
    expect(findingsOf([...answered, ...within, rewritten])).toEqual([]);
  });
});

describe.each<[type: string, data: object]>([
  ["todo/write", { todos: [] }],
  [
    "request/header",
    { header: { config: { provider: "p", model: "x" } }, reason: "initial" },
  ],
  ["request/context", { provider: "p", model: "x" }],
])("%s", (type, data) => {
  it("must stand in a turn, in a step or not", () => {
    const event = { type, data };

    expectOnlyBadToBeRefused("", [], event, "outside-turn", "", turn(1));
    expect(findingsOf([turn(1), event])).toEqual([]);
    expect(findingsOf([...openStep(), event])).toEqual([]);
  });
});

describe("what happens between turns", () => {
  it.each<[NewEvent]>([
    [prompt("hi")],
    [{ type: "session/end-seed", data: {} }],
    [note()],
    [{ type: "permission/preset", data: { preset: "x" } }],
    [{ type: "approval/policy", data: { policy: "ask" } }],
    [{ type: "sandbox/mode", data: { mode: "read-only" } }],
    [{ type: "plan/mode", data: { active: true } }],
    [{ type: "agent-preset/selected", data: { agentPreset: "coder" } }],
    [
      {
        type: "session/title",
        data: { title: "t", messageSeqs: [], source: { kind: "user" } },
      },
    ],
    [
      {
        type: "agent/inbox/spliced",
        data: { target: "next-turn", start: 0, inserted: [] },
      },
    ],
    [
      {
        type: "command/run",
        data: { commandId: "k", name: "x", source: { kind: "user" } },
      },
    ],
    [
      {
        type: "compaction/start",
        data: { compactionId: "k", turn: null },
      },
    ],
  ])("needs no turn: $type", (event) => {
    expect(findingsOf([event])).toEqual([]);
    expect(findingsOf([...oneTurn(), event])).toEqual([]);
  });

  it.each([prompt("hi"), END_SEED])(
    "may happen in a turn and in a step too: $type",
    (event) => {
      expect(findingsOf([turn(1), event])).toEqual([]);
      expect(findingsOf([...openStep(), event, stepEnd(1, 1)])).toEqual([]);
    },
  );
});

describe("one slip is one finding, and the log goes on as it says", () => {
  it.each<[what: string, at: number, log: readonly NewEvent[]]>([
    [
      "a number of a turn left out",
      0,
      [turn(2), step(2, 1), stepEnd(2, 1), turnEnd(2), turn(3)],
    ],
    [
      "a turn that never ended",
      1,
      [turn(1), turn(2), step(2, 1), stepEnd(2, 1), turnEnd(2), turn(3)],
    ],
    [
      "a step that never ended",
      2,
      [...openStep(), step(1, 2), stepEnd(1, 2), turnEnd(1), turn(2)],
    ],
    [
      "a step that ended with its turn only",
      2,
      [...openStep(), turnEnd(1), turn(2), step(2, 1)],
    ],
    [
      "a turn that never began",
      0,
      [step(1, 1), ...deltas(["a", "b"]), stepEnd(1, 1), turnEnd(1), turn(2)],
    ],
    [
      "a step that never began",
      1,
      [turn(1), ...deltas(["a", "b"]), stepEnd(1, 1), step(1, 2)],
    ],
  ])("%s", (_what, at, log) => {
    expect(findingsOf(log).map(([seq]) => seq)).toEqual([at]);
  });
});

function turn(number: number): NewEvent {
  return { type: "turn/start", data: { turn: number } };
}

function turnEnd(number: number): NewEvent {
  const reason = { kind: "completed" };
  return { type: "turn/end", data: { turn: number, reason } };
}

function step(inTurn: number, number: number): NewEvent {
  return { type: "step/start", data: { turn: inTurn, step: number } };
}

function stepEnd(inTurn: number, number: number): NewEvent {
  return { type: "step/end", data: { turn: inTurn, step: number } };
}

function oneTurn(): NewEvent[] {
  return [turn(1), turnEnd(1)];
}

/** A result that needs no call. */
function neverStarted(): NewEvent {
  const source = { kind: "tool", callId: "c1" };
  const block = { type: "tool-result", toolCallId: "c1", isError: true };
  const content = [{ ...block, content: [] }];
  const message = { id: "r", role: "user", content, source };
  const error = { name: "ToolNotStartedError", code: "TOOL_NOT_STARTED" };
  return {
    type: "tool/result",
    data: { turn: 1, step: 1, message, error },
    surfaceOp: "append",
  };
}
