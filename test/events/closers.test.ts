import { describe, expect, it } from "vitest";
import {
  closersOf,
  followTurn,
  initOpenTurn,
} from "../../src/events/closers.ts";
import { deriveMessages } from "../../src/events/derive-messages.ts";
import { member, type SessionEvent } from "../../src/events/event.ts";
import type { JsonValue } from "../../src/events/json.ts";
import { toProviderMessages } from "../../src/events/provider-messages.ts";

type Step = readonly [turn: number, step: number];

function log(
  ...given: readonly Omit<SessionEvent, "seq" | "time">[]
): SessionEvent[] {
  return given.map((event, seq) => ({ seq, time: 10 + seq, ...event }));
}

function at([turn, step]: Step): { turn: number; step: number } {
  return { turn, step };
}

const turnStart = (turn: number) => ({ type: "turn/start", data: { turn } });
const stepStart = (place: Step) => ({ type: "step/start", data: at(place) });
const stepEnd = (place: Step) => ({ type: "step/end", data: at(place) });
const turnEnd = (turn: number) => ({
  type: "turn/end",
  data: { turn, reason: { kind: "completed" } },
});
const endSeed = { type: "session/end-seed", data: {} };

function answer(place: Step, ...callIds: readonly string[]) {
  const message = {
    id: `answer-${callIds.join("-")}`,
    role: "assistant",
    source: { kind: "model", provider: "p", model: "x" },
    content: callIds.map((id) => ({
      type: "tool-call",
      id,
      name: "read",
      arguments: "{}",
    })),
  };
  return {
    type: "assistant/message",
    data: { ...at(place), message },
    surfaceOp: "append" as const,
    sourceEventSeqs: [],
  };
}

function call(place: Step, callId: string) {
  const data = { ...at(place), callId, name: "read", arguments: "{}" };
  return { type: "tool/call", data };
}

function result(place: Step, callId: string, source: number) {
  const message = {
    id: `result-${callId}`,
    role: "user",
    source: { kind: "tool", callId },
    content: [{ type: "tool-result", toolCallId: callId, content: [] }],
  };
  return {
    type: "tool/result",
    data: { ...at(place), message },
    surfaceOp: "append" as const,
    sourceEventSeqs: [source],
  };
}

function closers(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const last = events.at(-1) ?? { seq: -1, time: 0 };
  return closersOf(events.reduce(followTurn, initOpenTurn), last);
}

/** Type, call and error code of each closer. */
function told(events: readonly SessionEvent[]): readonly JsonValue[][] {
  return events.map(({ type, data }) => {
    const callId = member(member(member(data, "message"), "source"), "callId");
    const code = member(member(data, "error"), "code");
    return callId === undefined ? [type] : [type, callId, code ?? null];
  });
}

describe("closers", () => {
  it("say of a recorded call that its outcome is unknown, and of another that it never ran", () => {
    const crashed = log(
      turnStart(1),
      stepStart([1, 1]),
      answer([1, 1], "c1", "c2"),
      call([1, 1], "c1"),
      call([1, 1], "zz"),
    );

    const closing = closers(crashed);

    expect(told(closing)).toEqual([
      ["tool/result", "c1", "TOOL_OUTCOME_UNKNOWN"],
      ["tool/result", "c2", "TOOL_NOT_STARTED"],
      ["step/end"],
      ["turn/end"],
    ]);
    expect(closing.map(({ seq, time }) => [seq, time])).toEqual([
      [5, 14],
      [6, 14],
      [7, 14],
      [8, 14],
    ]);
    expect(closing[0]).toMatchObject({ sourceEventSeqs: [3] });
    expect(closing[1]).not.toHaveProperty("sourceEventSeqs");
    expect(
      closing.map(({ data }) => member(member(data, "message"), "id")),
    ).toEqual([
      "interrupted-tool-result-c1-5",
      "interrupted-tool-result-c2-6",
      undefined,
      undefined,
    ]);
  });

  it.each<[string, SessionEvent[], readonly JsonValue[][]]>([
    ["an empty log", [], []],
    ["a turn that has just begun", log(turnStart(1)), [["turn/end"]]],
    [
      "a step that has ended",
      log(turnStart(1), stepStart([1, 1]), stepEnd([1, 1])),
      [["turn/end"]],
    ],
    ["a log between turns", log(turnStart(1), turnEnd(1), endSeed), []],
  ])("end no more than is open: %s", (_what, events, expected) => {
    expect(told(closers(events))).toEqual(expected);
  });

  it("pair calls by turn: an earlier call of the same id that has its result settles nothing (B026)", () => {
    const crashed = log(
      turnStart(1),
      stepStart([1, 1]),
      answer([1, 1], "call_0"),
      call([1, 1], "call_0"),
      result([1, 1], "call_0", 3),
      stepEnd([1, 1]),
      turnEnd(1),
      turnStart(2),
      stepStart([2, 1]),
      answer([2, 1], "call_0"),
      call([2, 1], "call_0"),
    );

    const closing = closers(crashed);

    expect(told(closing)).toEqual([
      ["tool/result", "call_0", "TOOL_OUTCOME_UNKNOWN"],
      ["step/end"],
      ["turn/end"],
    ]);
    expect(closing[0]).toMatchObject({
      sourceEventSeqs: [10],
      data: { turn: 2 },
    });
  });

  it("leave a call in the middle of the log alone, and what the model is sent has a result for it in its place (B024)", () => {
    const resumed = log(
      turnStart(1),
      stepStart([1, 1]),
      answer([1, 1], "c1"),
      call([1, 1], "c1"),
      stepEnd([1, 1]),
      turnEnd(1),
      endSeed,
      turnStart(2),
      stepStart([2, 1]),
      answer([2, 1], "c2"),
    );

    const repaired = [...resumed, ...closers(resumed)];

    expect(told(repaired.slice(resumed.length))).toEqual([
      ["tool/result", "c2", "TOOL_NOT_STARTED"],
      ["step/end"],
      ["turn/end"],
    ]);
    const sent = toProviderMessages(
      deriveMessages(repaired).map(({ message }) => message),
    );
    expect(sent.map(({ role }) => role)).toEqual([
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
  });
});
