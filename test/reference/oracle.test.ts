import { describe, expect, it } from "vitest";
import type { EventLike } from "../support/reference-log.ts";
import {
  referenceClosers,
  referenceContext,
  referenceFold,
  referenceInvariants,
  unknownRequiredTypes,
} from "../support/reference.ts";

const HEADER = { version: 0, id: "a1", createdAt: 10, delegationDepth: 0 };
const SOURCE = { kind: "model", provider: "p", model: "x" };

function log(
  ...events: readonly (readonly [string, unknown, object?])[]
): EventLike[] {
  return events.map(([type, data, marks], seq) => ({
    type,
    seq,
    time: 11 + seq,
    data,
    ...marks,
  }));
}

/** One turn in which a request is tried twice: 10/5 tokens at first, then 12/3. */
function retriedTurn(): EventLike[] {
  const place = { turn: 1, step: 1 };
  const failure = { message: "busy", code: "SERVER" };
  const usage = (inputTokens: number, outputTokens: number) => ({
    ...place,
    chunk: { type: "usage", usage: { inputTokens, outputTokens } },
  });
  return log(
    ["turn/start", { turn: 1 }],
    ["step/start", place],
    ["user/message", message("hi"), { surfaceOp: "append" }],
    ["assistant/chunk", usage(10, 5)],
    ["llm/retry", { ...place, retryId: "r", retry: 1, failure }],
    ["llm/retry-started", { ...place, retryId: "r", retry: 1 }],
    ["assistant/chunk", usage(12, 3)],
    [
      "assistant/message",
      {
        ...place,
        message: { id: "m2", role: "assistant", content: [], source: SOURCE },
        usage: { inputTokens: 12, outputTokens: 3 },
      },
      { sourceEventSeqs: [6], surfaceOp: "append" },
    ],
    ["step/end", place],
    ["turn/end", { turn: 1, reason: { kind: "completed" } }],
    [
      "session/title",
      { title: "Hi", messageSeqs: [2], source: { kind: "fallback" } },
    ],
  );
}

function message(text: string): object {
  const content = [{ type: "text", text }];
  return { id: "m1", role: "user", content, source: { kind: "user" } };
}

describe("the oracle", () => {
  it("folds exactly the given events", () => {
    expect(referenceFold(HEADER, retriedTurn())).toMatchObject({
      surface: [2, 7],
      messages: [message("hi")],
      title: "Hi",
      tokenUsage: { uncachedInputTokens: 12, outputTokens: 3 },
      sessionStats: { turns: 1, steps: 1, llmMs: 6 },
    });
  });

  it("folds an empty log", () => {
    expect(referenceFold(HEADER, [])).toMatchObject({
      surface: [],
      messages: [],
      title: null,
    });
  });

  it("keeps estimates of the context apart from the other folds", () => {
    const [ask, answer] = ["hi", "x".repeat(4000)].map(message);
    const range = { start: 1, end: 1 };
    const events = log(
      ["user/message", ask, { surfaceOp: "append" }],
      [
        "user/message",
        answer,
        {
          sourceEventSeqs: [0],
          surfaceOp: { op: "replace", start: 0, end: 0 },
        },
      ],
      [
        "compaction/summary",
        { shadowedRange: range, shadowedSeqs: [1], shadowedTokenCount: 1008 },
      ],
      [
        "user/message",
        ask,
        { sourceEventSeqs: [1, 2], surfaceOp: { op: "replace", ...range } },
      ],
    );
    expect(referenceFold(HEADER, events).surface).toEqual([3]);
    expect(() => referenceContext(events)).toThrow("messageTokens");
  });

  it("leaves the caller's events as they were", () => {
    const events = retriedTurn();
    referenceFold(HEADER, events);
    referenceInvariants(HEADER, events);
    expect(events).toEqual(retriedTurn());
    expect(events.some((event) => Object.isFrozen(event))).toBe(false);
  });

  it("refuses a header of another version", () => {
    expect(() => referenceFold({ ...HEADER, version: 1 }, [])).toThrow(
      "version must be 0",
    );
  });

  it("refuses a gap", () => {
    expect(() => referenceFold(HEADER, retriedTurn().slice(1))).toThrow(
      "contiguous from 0",
    );
  });

  it("refuses a message without an id", () => {
    const events = log(["user/message", { role: "user" }]);
    expect(() => referenceFold(HEADER, events)).toThrow(
      "lacks an identified message",
    );
  });

  it("finds a step outside any turn", () => {
    const events = log(["step/start", { turn: 1, step: 1 }]);
    expect(() => referenceInvariants(HEADER, events)).toThrow(
      "step/start in turn 1 but open turn is null",
    );
  });

  it("finds an answer that cites an event which is no chunk", () => {
    const events = retriedTurn().map((event) =>
      event.type === "assistant/message"
        ? { ...event, sourceEventSeqs: [2] }
        : event,
    );
    const header = {
      type: "request/header",
      seq: 3,
      time: 14,
      data: {
        header: { config: { provider: "p", model: "x" } },
        reason: "initial",
      },
    };
    events.splice(3, 1, header);
    expect(() => referenceInvariants(HEADER, events)).toThrow(
      "source seq 2 is not assistant/chunk",
    );
  });

  it("finds a rename that cites a message", () => {
    const events = retriedTurn().with(10, {
      type: "session/title",
      seq: 10,
      time: 21,
      data: { title: "Hi", messageSeqs: [2], source: { kind: "user" } },
    });
    expect(() => referenceInvariants(HEADER, events)).toThrow(
      "must cite no message seqs",
    );
  });

  it("is not disturbed by an earlier refusal", () => {
    const bad = log(["step/start", { turn: 1, step: 1 }]);
    expect(() => referenceInvariants(HEADER, bad)).toThrow("open turn is null");
    expect(() => referenceInvariants(HEADER, retriedTurn())).not.toThrow();
  });

  it("names unknown types unless they are ignorable", () => {
    const events = log(
      ["acme/a", null],
      ["acme/b", null, { ignorable: true }],
      ["turn/start", { turn: 1 }],
    );
    expect(unknownRequiredTypes(events)).toEqual(["acme/a"]);
  });

  it("closes what a crash left open", () => {
    const crashed = retriedTurn().slice(0, 4);
    expect(referenceClosers(crashed).map(({ type }) => type)).toEqual([
      "step/end",
      "turn/end",
    ]);
  });
});
