import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const TURN: NewEvent = { type: "turn/start", data: { turn: 1 } };
const TURN_END: NewEvent = {
  type: "turn/end",
  data: { turn: 1, reason: { kind: "completed" } },
};
const END_SEED: NewEvent = { type: "session/end-seed", data: {} };

describe("an approval", () => {
  it.each<Case>([
    ["is asked for in a turn", [], asked("a"), "outside-turn", "", TURN],
    [
      "is decided in a turn",
      [TURN, asked("a"), TURN_END],
      decided("a"),
      "outside-turn",
      "",
      { type: "turn/start", data: { turn: 2 } },
    ],
    [
      "is not asked for again while it is open",
      [TURN, asked("a")],
      asked("a"),
      "approval-pairing",
      "data.id",
      asked("b"),
    ],
    [
      "was asked for",
      [TURN, asked("a")],
      decided("b"),
      "approval-pairing",
      "data.id",
      decided("a"),
    ],
    [
      "is decided once",
      [TURN, asked("a"), asked("b"), decided("a")],
      decided("a"),
      "approval-pairing",
      "data.id",
      decided("b"),
    ],
    [
      "that nobody decided is dead behind the end of the seed",
      [TURN, asked("a"), END_SEED],
      decided("a"),
      "approval-pairing",
      "data.id",
      asked("a"),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });
});

describe("a command", () => {
  it.each<Case>([
    [
      "does not run again while it runs",
      [run("a")],
      run("a"),
      "command-pairing",
      "data.commandId",
      run("b"),
    ],
    [
      "is done after it ran",
      [run("a")],
      done("b"),
      "command-pairing",
      "data.commandId",
      done("a"),
    ],
    [
      "is done once",
      [run("a"), run("b"), done("a")],
      done("a"),
      "command-pairing",
      "data.commandId",
      done("b"),
    ],
    [
      "does not name itself as what it brought about",
      [run("a")],
      done("a", { sourceEventSeq: 1 }),
      "command-pairing",
      "data.sourceEventSeq",
      done("a", { sourceEventSeq: 0 }),
    ],
    [
      "does not name what comes later as what it brought about",
      [run("a")],
      done("a", { sourceEventSeq: 7 }),
      "command-pairing",
      "data.sourceEventSeq",
      done("a"),
    ],
    [
      "that was not done is dead behind the end of the seed",
      [run("a"), END_SEED],
      done("a"),
      "command-pairing",
      "data.commandId",
      run("a"),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("may be done in another turn than it ran in", () => {
    expect(findingsOf([run("a"), TURN, done("a"), TURN_END])).toEqual([]);
  });
});

describe.each(["hook/invoked", "hook/result"])("%s", (type) => {
  it.each<Case>([
    ["stands in a turn", [], hook(type, 1), "outside-turn", "", TURN],
    [
      "names the open turn",
      [TURN],
      hook(type, 2),
      "hook-turn",
      "data.turn",
      hook(type, 1),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });
});

describe.each(["tool/code-dispatch-start", "tool/code-dispatch"])(
  "%s",
  (type) => {
    it("stands in a turn, in a step or not", () => {
      const event = dispatch(type);

      expectOnlyBadToBeRefused("", [], event, "outside-turn", "", TURN);
      expect(findingsOf([TURN, event])).toEqual([]);
    });
  },
);

function asked(id: string): NewEvent {
  return { type: "approval/asked", data: { id, toolName: "bash" } };
}

function decided(id: string): NewEvent {
  return { type: "approval/decided", data: { id, outcome: "rejected" } };
}

function run(commandId: string): NewEvent {
  const data = { commandId, name: "x", source: { kind: "user" } };
  return { type: "command/run", data };
}

function done(commandId: string, more: object = {}): NewEvent {
  const data = { commandId, kind: "success", ...more };
  return { type: "command/done", data };
}

/** Holds what either kind of hook event needs. */
function hook(type: string, turn: number): NewEvent {
  const common = { turn, point: "pre-tool", handlerId: "h" };
  const result = { decision: "allow", durationMs: 1 };
  return { type, data: { ...common, dialect: "codex", ...result } };
}

function dispatch(type: string): NewEvent {
  const ids = { rootCallId: "c", parentCallId: "c", subCallId: "c:code:1" };
  const call = { name: "bash", arguments: {} };
  return { type, data: { ...ids, ...call, isError: false, content: [] } };
}
