import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { openStep } from "../../support/events.ts";
import { toolCall, toolResult } from "../../support/request-events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const UNPAIRED = ["tool-pairing", "data.message.source.callId"] as const;

describe("a tool result", () => {
  it.each<Case>([
    [
      "answers a call",
      openStep(),
      toolResult("c1", "x"),
      ...UNPAIRED,
      toolCall("c1"),
    ],
    [
      "answers a call of its own id",
      [...openStep(), toolCall("c1")],
      toolResult("c2", "x"),
      ...UNPAIRED,
      toolResult("c1", "x"),
    ],
    [
      "answers a call once",
      [...openStep(), toolCall("c1"), toolCall("c2"), toolResult("c1", "x")],
      toolResult("c1", "x"),
      ...UNPAIRED,
      toolResult("c2", "x"),
    ],
    [
      "answers once what was called twice under one id (B029)",
      [...openStep(), toolCall("a"), toolCall("a"), toolResult("a", "x")],
      toolResult("a", "x"),
      ...UNPAIRED,
      toolCall("a"),
    ],
    [
      "answers a call of its own step, not of an earlier one that had the same id (B026)",
      [...openStep(), toolCall("call_0"), ...nextStep()],
      inStep(2, toolResult("call_0", "x")),
      ...UNPAIRED,
      inStep(2, toolCall("call_0")),
    ],
    [
      "needs a call when it is an error of another code",
      openStep(),
      failed("c1", "TOOL_OUTCOME_UNKNOWN", { isError: true }),
      ...UNPAIRED,
      failed("c1", "TOOL_NOT_STARTED", { isError: true }),
    ],
    [
      "needs a call when it says it was never started and is no error",
      openStep(),
      failed("c1", "TOOL_NOT_STARTED", {}),
      ...UNPAIRED,
      failed("c1", "TOOL_NOT_STARTED", { isError: true }),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("may come in any order, and may be missing when the step ends", () => {
    const calls = ["a", "b", "c"].map(toolCall);
    const results = ["c", "a"].map((id) => toolResult(id, "x"));

    expect(
      findingsOf([...openStep(), ...calls, ...results, ...nextStep()]),
    ).toEqual([]);
  });

  it("answers each of two calls of one id in two steps (B026)", () => {
    const first = [toolCall("call_0"), toolResult("call_0", "x")];
    const second = first.map((event) => inStep(2, event));

    expect(
      findingsOf([...openStep(), ...first, ...nextStep(), ...second]),
    ).toEqual([]);
  });

  it("that is refused leaves the call to be answered", () => {
    const log = [...openStep(), toolCall("c1"), toolResult("c2", "x")];

    expect(findingsOf([...log, toolResult("c1", "x")])).toEqual([
      [3, ...UNPAIRED],
    ]);
  });
});

function nextStep(): NewEvent[] {
  return [
    { type: "step/end", data: { turn: 1, step: 1 } },
    { type: "step/start", data: { turn: 1, step: 2 } },
  ];
}

function inStep(step: number, event: NewEvent): NewEvent {
  return { ...event, data: Object.assign({}, event.data, { step }) };
}

function failed(callId: string, code: string, more: object): NewEvent {
  const block = { type: "tool-result", toolCallId: callId, content: [] };
  const message = {
    id: "r",
    role: "user",
    content: [{ ...block, ...more }],
    source: { kind: "tool", callId },
  };
  const error = { name: "ToolError", code };
  return {
    type: "tool/result",
    data: { turn: 1, step: 1, message, error },
    surfaceOp: "append",
  };
}
