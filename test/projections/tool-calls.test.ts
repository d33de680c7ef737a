import { describe, expect, it } from "vitest";
import { toolCalls } from "../../src/projections/tool-calls/projection.ts";
import { foldedRows } from "../support/fold-rows.ts";
import {
  answer,
  inPlaceOf,
  OPENING,
  STEP_END,
  toolCall,
  toolResult,
  turnEnd,
} from "../support/request-events.ts";

const asks = (...ids: readonly string[]) =>
  answer(
    ids.map((id) => ({ type: "tool-call", id, name: "bash", arguments: "{}" })),
  );

const callsOf = (events: readonly object[], header: object = {}) =>
  foldedRows(toolCalls, "tool_calls", [...OPENING, ...events], header);

describe("the tool_calls projection", () => {
  it("has a row for each call of an answer, in its order, with start, result and duration", () => {
    const rows = callsOf([
      asks("a", "b"),
      { ...toolCall("b"), time: 10 },
      { ...toolCall("a"), time: 20 },
      { ...toolResult("a", "fine"), time: 25 },
    ]);

    expect(rows).toMatchObject([
      {
        seq: 3,
        ordinal: 1,
        call_id: "a",
        call_seq: 5,
        result_seq: 6,
        started_ms: 20,
        duration_ms: 5,
        outcome: "ok",
        result_text: "fine",
        turn: 1,
        step: 1,
      },
      {
        seq: 3,
        ordinal: 2,
        call_id: "b",
        started_ms: 10,
        duration_ms: null,
        outcome: "pending",
        result_text: null,
      },
    ]);
  });

  it.each([
    [{ error: { name: "E", code: "ABORTED" } }, "interrupted"],
    [{ error: { name: "E", code: "TOOL_OUTCOME_UNKNOWN" } }, "interrupted"],
    [{ error: { name: "E", code: "TOOL_NOT_STARTED" } }, "not_started"],
    [{ error: { name: "E", code: "ABORTED_BEFORE_DISPATCH" } }, "not_started"],
    [{ error: { name: "E", code: "EXIT" } }, "error"],
    [{}, "ok"],
  ])("tells from %j that it is %s", (more, outcome) => {
    const rows = callsOf([
      asks("a"),
      toolCall("a"),
      toolResult("a", "x", more),
    ]);

    expect(rows).toMatchObject([{ outcome }]);
  });

  it("takes a result block marked as an error for one", () => {
    const result = toolResult("a", "x");
    const message = {
      source: { kind: "tool", callId: "a" },
      content: [{ type: "tool-result", isError: true, content: [] }],
    };
    const rows = callsOf([
      asks("a"),
      toolCall("a"),
      { ...result, data: { message } },
    ]);

    expect(rows).toMatchObject([{ outcome: "error", result_text: "" }]);
  });

  it("leaves nothing pending when the turn ends", () => {
    const rows = callsOf([
      asks("a", "b"),
      toolCall("a"),
      STEP_END,
      turnEnd({ kind: "error" }),
    ]);

    expect(rows.map(({ outcome }) => outcome)).toEqual([
      "interrupted",
      "not_started",
    ]);
  });

  it("keeps the result as it was when it is pruned later", () => {
    const rows = callsOf([
      asks("a"),
      toolCall("a"),
      toolResult("a", "long"),
      inPlaceOf([5], toolResult("a", "pruned")),
    ]);

    expect(rows).toMatchObject([{ result_seq: 5, result_text: "long" }]);
  });

  it("gives a call id that repeats a row each time, and answers the earlier one first", () => {
    const rows = callsOf([
      asks("a"),
      toolCall("a"),
      asks("a"),
      toolResult("a", "one"),
      toolCall("a"),
      toolResult("a", "two"),
    ]);

    expect(rows).toMatchObject([
      { seq: 3, call_seq: 4, result_text: "one" },
      { seq: 5, call_seq: 7, result_text: "two" },
    ]);
  });

  it("knows a call that no answer asked for by its start, and passes over a result of nothing", () => {
    const rows = callsOf([toolCall("constructor"), toolResult("toString", "")]);

    expect(rows).toMatchObject([
      { seq: 3, ordinal: 1, call_id: "constructor", outcome: "pending" },
    ]);
  });

  it("never has a negative duration, and one too long for an integer is cut", () => {
    const rows = callsOf([
      asks("a", "b"),
      { ...toolCall("a"), time: 9 },
      { ...toolCall("b"), time: Number.MIN_SAFE_INTEGER },
      { ...toolResult("a", ""), time: 3 },
      { ...toolResult("b", ""), time: Number.MAX_SAFE_INTEGER },
    ]);

    expect(rows.map((row) => row["duration_ms"])).toEqual([
      0,
      Number.MAX_SAFE_INTEGER,
    ]);
  });

  it("tells inherited calls from own ones (B054)", () => {
    const rows = callsOf(
      [asks("a"), toolCall("a"), toolResult("a", ""), asks("b")],
      { seedLength: 6 },
    );

    expect(rows.map(({ inherited }) => inherited)).toEqual([true, false]);
  });
});
