import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkEvent, type UncheckedEvent } from "../../src/events/envelope.ts";
import { STORAGE_TAGS } from "../../src/events/vocabulary.ts";
import { runs } from "../support/property-runs.ts";
import { altered } from "./altered.ts";
import { anyJson } from "./any-json.ts";
import {
  ASSISTANT_MESSAGE,
  REQUEST_HEADER,
  TOOL_RESULT,
  USER_MESSAGE,
} from "./messages.ts";

/** The seq that the events of these tests get. */
const SEQ = 9;

const NOTE = { type: "feedback/record", data: { text: "note" } };
const USER = { type: "user/message", data: USER_MESSAGE, surfaceOp: "append" };
const ASSISTANT = {
  type: "assistant/message",
  data: ASSISTANT_MESSAGE,
  surfaceOp: "append",
};
const TOOL = { type: "tool/result", data: TOOL_RESULT, surfaceOp: "append" };

describe("a checked event", () => {
  it("has everything that was given", () => {
    const event = {
      ...ASSISTANT,
      seq: SEQ,
      time: 1_000,
      ignorable: true,
      sourceEventSeqs: [4, 5],
    };

    expect(checkEvent(event, SEQ)).toStrictEqual({
      type: "assistant/message",
      time: 1_000,
      data: ASSISTANT_MESSAGE,
      ignorable: true,
      surfaceOp: "append",
      sourceEventSeqs: [4, 5],
      keyOrder: "type,data,surfaceOp,seq,time,ignorable,sourceEventSeqs",
      givenSeq: SEQ,
    });
  });

  it("has null for what was left out", () => {
    expect(checkEvent(NOTE, SEQ)).toStrictEqual({
      type: "feedback/record",
      time: null,
      data: { text: "note" },
      ignorable: false,
      surfaceOp: null,
      sourceEventSeqs: null,
      keyOrder: null,
      givenSeq: null,
    });
  });

  it("takes undefined for left out, except as data", () => {
    const event = {
      ...NOTE,
      seq: undefined,
      time: undefined,
      ignorable: undefined,
      surfaceOp: undefined,
      sourceEventSeqs: undefined,
    };

    expect(checkEvent(event, SEQ)).toStrictEqual(checkEvent(NOTE, SEQ));
  });

  it("has a replacement with its range", () => {
    const surfaceOp = { end: 2, op: "replace", start: 7 };
    const event = { ...USER, surfaceOp, sourceEventSeqs: [7, 2] };

    expect(checkEvent(event, SEQ).surfaceOp).toStrictEqual({
      op: "replace",
      start: 7,
      end: 2,
    });
  });

  it("is reached by no later change of what was given", () => {
    const data = { list: [1] };
    const surfaceOp = { op: "replace", start: 2, end: 2 };
    const sourceEventSeqs = [2];
    const message = { ...USER_MESSAGE, meta: data };
    const checked = checkEvent(
      { ...USER, data: message, surfaceOp, sourceEventSeqs },
      SEQ,
    );
    const text = JSON.stringify(checked);

    data.list.push(2);
    surfaceOp.start = 5;
    sourceEventSeqs.push(5);

    expect(JSON.stringify(checked)).toBe(text);
  });

  it("has any JSON as the data of a type that has no shape (B001, B012)", () => {
    fc.assert(
      fc.property(anyJson, (data) => {
        const checked = checkEvent({ type: "x/plugin", data }, SEQ);

        expect(JSON.stringify(checked.data)).toBe(JSON.stringify(data));
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("an event is accepted", () => {
  it.each<[what: string, event: UncheckedEvent]>([
    ["at a negative time", { ...NOTE, time: -1 }],
    ["at time 0", { ...NOTE, time: 0 }],
    ["at the first safe time", { ...NOTE, time: Number.MIN_SAFE_INTEGER }],
    ["at the last safe time", { ...NOTE, time: Number.MAX_SAFE_INTEGER }],
    ["that names the seq it gets", { ...NOTE, seq: SEQ }],
    ["that is ignorable", { ...NOTE, ignorable: true }],
    ["of the surface that is ignorable", { ...USER, ignorable: true }],
    ["of a type that nobody knows", { type: "x/new", data: {} }],
    ["of a type without slash", { type: "note", data: {} }],
    ["of a type in any script", { type: "笔记/👩‍👩‍👧 é", data: {} }],
    ["with the data null", { type: "x/new", data: null }],
    ["with a list for data", { type: "x/new", data: [1, [2]] }],
    ["with a string for data", { type: "x/new", data: "" }],
    ["with a number for data", { type: "x/new", data: 0 }],
    ["with a boolean for data", { type: "x/new", data: false }],
    ["with its own seq in its data", { type: "x/new", data: { seq: 3 } }],
    [
      "whose data has a core type's further key",
      {
        type: "turn/start",
        data: { turn: 1, more: true },
      },
    ],
    [
      "with a turn end for a reason nobody knows",
      {
        type: "turn/end",
        data: { turn: 1, reason: { kind: "x/new" } },
      },
    ],
    [
      "with a chunk of a type nobody knows",
      {
        type: "assistant/chunk",
        data: { turn: 1, step: 1, chunk: { type: "x/new" } },
      },
    ],
    ["as a user message without sources", USER],
    ["as a user message with sources", { ...USER, sourceEventSeqs: [0] }],
    ["as an assistant message without sources", ASSISTANT],
    [
      "as a request header that resumes",
      {
        type: "request/header",
        data: { ...REQUEST_HEADER, reason: "resume" },
      },
    ],
    [
      "as a tool result with the seq before its own for a source",
      {
        ...TOOL,
        sourceEventSeqs: [SEQ - 1],
      },
    ],
  ])("%s", (_what, event) => {
    expect(() => checkEvent(event, SEQ)).not.toThrow();
  });

  it("as an assistant message that consumed no chunk, which is not the same as unknown sources", () => {
    const none = checkEvent({ ...ASSISTANT, sourceEventSeqs: [] }, SEQ);

    expect(none.sourceEventSeqs).toStrictEqual([]);
    expect(checkEvent(ASSISTANT, SEQ).sourceEventSeqs).toBeNull();
  });

  it("with sources in any order, which is kept", () => {
    const event = { ...ASSISTANT, sourceEventSeqs: [19, 20, 4] };

    expect(checkEvent(event, 21).sourceEventSeqs).toStrictEqual([19, 20, 4]);
  });

  it("with sources that descend", () => {
    const event = { ...ASSISTANT, sourceEventSeqs: [7, 5, 0] };

    expect(checkEvent(event, SEQ).sourceEventSeqs).toStrictEqual([7, 5, 0]);
  });

  it("with tens of thousands of sources", () => {
    const sourceEventSeqs = Array.from({ length: 100_000 }, (_, seq) => seq);
    const event = { ...ASSISTANT, sourceEventSeqs };

    expect(checkEvent(event, 100_000).sourceEventSeqs).toHaveLength(100_000);
  });

  it("as a replacement of later by earlier seqs, whose order only the surface knows", () => {
    const surfaceOp = { op: "replace", start: 8, end: 2 };
    const event = { ...USER, surfaceOp, sourceEventSeqs: [8, 2] };

    expect(() => checkEvent(event, SEQ)).not.toThrow();
  });
});

describe("an event is refused", () => {
  it.each<Broken>([
    [
      "with a key that no event has",
      { ...NOTE, ...extra("id", "e1") },
      "envelope-keys",
      "id",
    ],
    [
      "with a key in another spelling",
      { ...NOTE, ...extra("Time", 1) },
      "envelope-keys",
      "Time",
    ],
    [
      "with a further key that is undefined",
      { ...NOTE, ...extra("id", undefined) },
      "envelope-keys",
      "id",
    ],
    [
      "with an own key __proto__",
      JSON.parse('{"type":"x","data":1,"__proto__":1}'),
      "envelope-keys",
      "__proto__",
    ],

    ["without type", { data: {} }, "type", "type"],
    ["with an empty type", { type: "", data: {} }, "type", "type"],
    ["with a type that is no string", { type: 5, data: {} }, "type", "type"],
    ["with NUL in its type (B001)", { type: "x\0", data: {} }, "type", "type"],
    [
      "with a line feed in its type",
      { type: "x\ny", data: {} },
      "type",
      "type",
    ],
    [
      "with a C1 control character in its type",
      { type: "x\u0085", data: {} },
      "type",
      "type",
    ],
    [
      "with a lone surrogate in its type",
      { type: "x\ud800", data: {} },
      "type",
      "type",
    ],

    ["that names a later seq", { ...NOTE, seq: SEQ + 1 }, "seq", "seq"],
    ["that names an earlier seq", { ...NOTE, seq: SEQ - 1 }, "seq", "seq"],
    ["that names its seq as text", { ...NOTE, seq: String(SEQ) }, "seq", "seq"],
    ["that names its seq as a bigint", { ...NOTE, seq: 9n }, "seq", "seq"],
    ["with the seq null", { ...NOTE, seq: null }, "seq", "seq"],

    ["at a fractional time", { ...NOTE, time: 0.5 }, "time", "time"],
    ["at an unsafe time", { ...NOTE, time: 2 ** 53 }, "time", "time"],
    [
      "at an unsafe negative time",
      { ...NOTE, time: -(2 ** 53) },
      "time",
      "time",
    ],
    ["at the time -0 (B012)", { ...NOTE, time: -0 }, "time", "time"],
    ["at the time NaN", { ...NOTE, time: Number.NaN }, "time", "time"],
    [
      "at the time Infinity",
      { ...NOTE, time: Number.POSITIVE_INFINITY },
      "time",
      "time",
    ],
    ["at a time as text", { ...NOTE, time: "1000" }, "time", "time"],
    ["at a Date", { ...NOTE, time: new Date(0) }, "time", "time"],
    ["at the time null", { ...NOTE, time: null }, "time", "time"],

    [
      "that is ignorable: false",
      { ...NOTE, ignorable: false },
      "ignorable",
      "ignorable",
    ],
    [
      "that is ignorable: 1",
      { ...NOTE, ignorable: 1 },
      "ignorable",
      "ignorable",
    ],
    [
      "that is ignorable: null",
      { ...NOTE, ignorable: null },
      "ignorable",
      "ignorable",
    ],
    [
      'that is ignorable: "true"',
      { ...NOTE, ignorable: "true" },
      "ignorable",
      "ignorable",
    ],

    ["without data", { type: "x/new" }, "data", "data"],
    [
      "with inherited data",
      Object.create({ type: "x/new", data: 1 }),
      "data",
      "data",
    ],
    [
      "with the data undefined",
      { type: "x/new", data: undefined },
      "lossless-json",
      "data",
    ],
    [
      "with -0 in its data (B012)",
      { type: "x/new", data: [-0] },
      "lossless-json",
      "data[0]",
    ],
    [
      "with a hole in its data",
      { type: "x/new", data: { a: { b: undefined } } },
      "lossless-json",
      "data.a.b",
    ],
    [
      "with a Date in its data",
      { type: "x/new", data: { at: new Date(0) } },
      "lossless-json",
      "data.at",
    ],

    [
      "of a retired type",
      { type: "request/header-delta", data: {} },
      "retired-type",
      "type",
    ],
    [
      "of a retired type though it is ignorable",
      { type: "mode/set", data: {}, ignorable: true },
      "retired-type",
      "type",
    ],
    [
      "as a request header of the retired reason",
      {
        type: "request/header",
        data: { ...REQUEST_HEADER, reason: "fallback" },
      },
      "retired-type",
      "data.reason",
    ],
  ])("%s", refuses);

  it.each(STORAGE_TAGS)(
    "of the type %s, which names packed rows, though it is ignorable",
    (type) => {
      expect(() =>
        checkEvent({ type, data: {}, ignorable: true }, SEQ),
      ).toThrow(broken("type", "type"));
    },
  );

  it("with another reason than the retired one in the data of another type", () => {
    const event = { type: "turn/end", data: { turn: 1, reason: "fallback" } };

    expect(() => checkEvent(event, SEQ)).not.toThrow();
  });
});

describe("the operation of an event on the surface", () => {
  it.each([USER, ASSISTANT, TOOL])(
    "must be there on $type",
    ({ type, data }) => {
      expect(() => checkEvent({ type, data }, SEQ)).toThrow(
        broken("surface-op-missing", "surfaceOp"),
      );
    },
  );

  it.each<Broken>([
    [
      "stand on another type",
      { ...NOTE, surfaceOp: "append" },
      "surface-op-forbidden",
      "surfaceOp",
    ],
    [
      "be null on another type",
      { ...NOTE, surfaceOp: null },
      "surface-op-forbidden",
      "surfaceOp",
    ],
    [
      "stand on a type that nobody knows",
      { type: "x/new", data: {}, surfaceOp: "append" },
      "surface-op-forbidden",
      "surfaceOp",
    ],
    ["be null", { ...USER, surfaceOp: null }, "surface-op", "surfaceOp"],
    [
      "be another word",
      { ...USER, surfaceOp: "replace" },
      "surface-op",
      "surfaceOp",
    ],
    ["be a number", { ...USER, surfaceOp: 5 }, "surface-op", "surfaceOp"],
    [
      "be a list",
      { ...USER, surfaceOp: ["append"] },
      "surface-op",
      "surfaceOp",
    ],
    [
      "lack its start",
      { ...USER, surfaceOp: { op: "replace", end: 2 } },
      "surface-op",
      "surfaceOp",
    ],
    [
      "lack its end",
      { ...USER, surfaceOp: { op: "replace", start: 2 } },
      "surface-op",
      "surfaceOp",
    ],
    [
      "have a further key",
      { ...USER, surfaceOp: { ...range(2, 2), why: "x" } },
      "surface-op",
      "surfaceOp",
    ],
    [
      "be another operation",
      { ...USER, surfaceOp: { ...range(2, 2), op: "remove" } },
      "surface-op",
      "surfaceOp",
    ],
    [
      "start below 0",
      { ...USER, surfaceOp: range(-1, 2) },
      "surface-op",
      "surfaceOp",
    ],
    [
      "end at a fraction",
      { ...USER, surfaceOp: range(2, 2.5) },
      "surface-op",
      "surfaceOp",
    ],
    [
      "end at an unsafe integer",
      { ...USER, surfaceOp: range(2, 2 ** 53) },
      "surface-op",
      "surfaceOp",
    ],
    [
      "start at text",
      { ...USER, surfaceOp: range("2", 2) },
      "surface-op",
      "surfaceOp",
    ],
    [
      "have an undefined end",
      { ...USER, surfaceOp: range(2, undefined) },
      "lossless-json",
      "surfaceOp.end",
    ],
    [
      "start at -0",
      { ...USER, surfaceOp: range(-0, 2) },
      "lossless-json",
      "surfaceOp.start",
    ],
  ])("must not %s", refuses);
});

describe("the sources of an event", () => {
  it.each<Broken>([
    [
      "stand on another type",
      { ...NOTE, sourceEventSeqs: [1] },
      "surface-op-forbidden",
      "sourceEventSeqs",
    ],
    [
      "be empty on another type",
      { ...NOTE, sourceEventSeqs: [] },
      "surface-op-forbidden",
      "sourceEventSeqs",
    ],
    [
      "be null",
      { ...ASSISTANT, sourceEventSeqs: null },
      "sources",
      "sourceEventSeqs",
    ],
    [
      "be a number",
      { ...ASSISTANT, sourceEventSeqs: 4 },
      "sources",
      "sourceEventSeqs",
    ],
    [
      "be an object",
      { ...ASSISTANT, sourceEventSeqs: { 0: 4 } },
      "sources",
      "sourceEventSeqs",
    ],
    [
      "be empty on a user message",
      { ...USER, sourceEventSeqs: [] },
      "sources",
      "sourceEventSeqs",
    ],
    [
      "be empty on a tool result",
      { ...TOOL, sourceEventSeqs: [] },
      "sources",
      "sourceEventSeqs",
    ],
    [
      "have a hole",
      { ...ASSISTANT, sourceEventSeqs: Object.assign([4], { 2: 5 }) },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "have an undefined item",
      { ...ASSISTANT, sourceEventSeqs: [4, undefined] },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "have an item -0",
      { ...ASSISTANT, sourceEventSeqs: [4, -0] },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "have a negative item",
      { ...ASSISTANT, sourceEventSeqs: [4, -1] },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "have a fractional item",
      { ...ASSISTANT, sourceEventSeqs: [0.5] },
      "sources",
      "sourceEventSeqs[0]",
    ],
    [
      "have an unsafe item",
      { ...ASSISTANT, sourceEventSeqs: [2 ** 53] },
      "sources",
      "sourceEventSeqs[0]",
    ],
    [
      "have a text for an item",
      { ...ASSISTANT, sourceEventSeqs: [4, "5"] },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "have a null item",
      { ...ASSISTANT, sourceEventSeqs: [null] },
      "sources",
      "sourceEventSeqs[0]",
    ],
    [
      "repeat an item",
      { ...ASSISTANT, sourceEventSeqs: [4, 5, 4] },
      "sources",
      "sourceEventSeqs[2]",
    ],
    [
      "repeat an item right away",
      { ...ASSISTANT, sourceEventSeqs: [4, 4] },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "name the event itself",
      { ...ASSISTANT, sourceEventSeqs: [4, SEQ] },
      "sources",
      "sourceEventSeqs[1]",
    ],
    [
      "name a later event",
      { ...USER, sourceEventSeqs: [SEQ + 1] },
      "sources",
      "sourceEventSeqs[0]",
    ],
  ])("must not %s", refuses);

  it("may not be there at all on the first event", () => {
    const event = { ...USER, sourceEventSeqs: [0] };

    expect(() => checkEvent(event, 0)).toThrow(
      broken("sources", "sourceEventSeqs[0]"),
    );
  });
});

describe("the shape of a message", () => {
  it.each<[event: UncheckedEvent, path: string]>([
    [{ ...USER, data: altered(USER_MESSAGE, "role", "tool") }, "data.role"],
    [
      { ...ASSISTANT, data: altered(ASSISTANT_MESSAGE, "message.id", "") },
      "data.message.id",
    ],
    [
      { ...TOOL, data: altered(TOOL_RESULT, "message.source.callId", "c2") },
      "data.message.content[0].toolCallId",
    ],
    [{ type: "request/header", data: { header: {} } }, "data.header.config"],
  ])(
    "is checked when it is appended, not when it is read again (%#)",
    (event, path) => {
      expect(() => checkEvent(event, SEQ)).toThrow(
        broken("message-shape", path),
      );
    },
  );

  it("is checked even when the event is ignorable", () => {
    const event = { ...USER, data: {}, ignorable: true };

    expect(() => checkEvent(event, SEQ)).toThrow(
      broken("message-shape", "data.id"),
    );
  });
});

/** What is wrong, the event, and the rule and path that the refusal must name. */
type Broken = [what: string, event: UncheckedEvent, rule: string, path: string];

function refuses(...[, event, rule, path]: Broken): void {
  expect(() => checkEvent(event, SEQ)).toThrow(broken(rule, path));
}

function broken(rule: string, path: string): unknown {
  return expect.objectContaining({ rule, path });
}

function extra(key: string, value: unknown): object {
  return { [key]: value };
}

function range(start: unknown, end: unknown): object {
  return { op: "replace", start, end };
}
