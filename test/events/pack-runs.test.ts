import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expandRun, runLength } from "../../src/events/expand-runs.ts";
import { parseJson, type JsonValue } from "../../src/events/json.ts";
import {
  isRun,
  packRuns,
  type ChunkRun,
  type PackableEvent,
} from "../../src/events/pack-runs.ts";
import { RuleViolation } from "../../src/events/rule-violation.ts";
import { stringifyJson } from "../../src/events/stringify-json.ts";
import { STORAGE_TAGS, type StorageTag } from "../../src/events/vocabulary.ts";
import { runs } from "../support/property-runs.ts";
import { altered } from "./altered.ts";
import { anyJson, anyText } from "./any-json.ts";

const MAX = Number.MAX_SAFE_INTEGER;

/** Three text deltas and the row they pack to. */
const TEXT_EVENTS = [
  '{"type":"assistant/chunk","seq":7,"time":1000,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":"Gu"}}}',
  '{"type":"assistant/chunk","seq":8,"time":1004,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":"ten"}}}',
  '{"type":"assistant/chunk","seq":9,"time":1003,"data":{"turn":1,"step":2,"chunk":{"type":"text-delta","index":0,"text":" Tag"}}}',
];
const TEXT_ROW =
  '{"type":"text-chunks","seq0":7,"time0":1000,"data":{"turn":1,"step":2,"index":0,"dt":[4,-1],"texts":["Gu","ten"," Tag"]}}';

/** Three deltas of a tool call and the row they pack to. */
const TOOL_EVENTS = [
  '{"type":"assistant/chunk","seq":20,"time":5,"data":{"turn":1,"step":1,"chunk":{"type":"tool-call-delta","index":1,"id":"c1","name":"bash","argumentsDelta":"{\\"a\\""}}}',
  '{"type":"assistant/chunk","seq":21,"time":5,"data":{"turn":1,"step":1,"chunk":{"type":"tool-call-delta","index":1,"id":"c1","name":"bash","argumentsDelta":":"}}}',
  '{"type":"assistant/chunk","seq":22,"time":7,"data":{"turn":1,"step":1,"chunk":{"type":"tool-call-delta","index":1,"id":"c1","name":"bash","argumentsDelta":"1}"}}}',
];
const TOOL_ROW =
  '{"type":"tool-call-chunks","seq0":20,"time0":5,"data":{"turn":1,"step":1,"index":1,"dt":[0,2],"id":"c1","name":"bash","args":["{\\"a\\"",":","1}"]}}';

/** The place of the members of the text row. */
const TEXT_PLACE = { turn: 1, step: 2, index: 0 };

describe("the two examples", () => {
  it.each([
    ["text", TEXT_EVENTS, TEXT_ROW],
    ["tool", TOOL_EVENTS, TOOL_ROW],
  ])(
    "%s: the events pack to the row, and it expands to them",
    (_what, lines, row) => {
      const events = lines.map(parseEvent);

      expect(textsOf(packRuns(events))).toEqual([row]);
      expect(textsOf(expanded(packRuns(events)))).toEqual(lines);
    },
  );
});

describe("any sequence of events", () => {
  it("comes back byte for byte (B012)", () => {
    fc.assert(
      fc.property(anyMix, ({ events }) => {
        expect(textsOf(expanded(packRuns(events)))).toEqual(textsOf(events));
      }),
      { numRuns: runs(300) },
    );
  });

  it("comes back byte for byte when it is packed in parts", () => {
    const anyCuts = fc.array(fc.nat({ max: 30 }), { maxLength: 4 });
    fc.assert(
      fc.property(anyMix, anyCuts, ({ events }, cuts) => {
        const packed = partsOf(events, cuts).map((part) => [...packRuns(part)]);

        expect(textsOf(expanded(packed.flat()))).toEqual(textsOf(events));
      }),
      { numRuns: runs(200) },
    );
  });

  it("packs to runs of 3 events or more, which know how many they hold", () => {
    fc.assert(
      fc.property(anyMix, ({ events }) => {
        const found = [...packRuns(events)].filter(isRun);
        const counts = found.map(({ eventCount }) => eventCount);

        expect(counts.every((count) => count >= 3)).toBe(true);
        expect(found.map(({ type, data }) => runLength(type, data))).toEqual(
          counts,
        );
        expect(found.map((run) => expanded([run]).length)).toEqual(counts);
      }),
      { numRuns: runs(200) },
    );
  });

  it("packs to runs of at most as many events as asked for, and still comes back", () => {
    const anyMax = fc.integer({ min: 1, max: 6 });
    fc.assert(
      fc.property(anyMix, anyMax, ({ events }, max) => {
        const packed = [...packRuns(events, max)];

        expect(
          packed.filter(isRun).filter(({ eventCount }) => eventCount > max),
        ).toEqual([]);
        expect(textsOf(expanded(packed))).toEqual(textsOf(events));
      }),
      { numRuns: runs(200) },
    );
  });

  it("leaves as it is whatever has not exactly the keys of a delta, in their order", () => {
    fc.assert(
      fc.property(anyMix, ({ events, odd }) => {
        const rows = new Set<unknown>(packRuns(events));

        expect(odd.filter((event) => !rows.has(event))).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  it("packs to the same rows after it came back", () => {
    fc.assert(
      fc.property(anyMix, ({ events }) => {
        const packed = [...packRuns(events)];

        expect([...packRuns(expanded(packed))].map(rowText)).toEqual(
          packed.map(rowText),
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it("holds runs of all three kinds often enough to say something", () => {
    const mixes = fc.sample(anyMix, { numRuns: 200, seed: 1 });
    const found = mixes.flatMap(({ events }) =>
      [...packRuns(events)].filter(isRun),
    );

    expect(new Set(found.map(({ type }) => type)).size).toBe(3);
    expect(found.length).toBeGreaterThan(200);
  });
});

describe("packRuns", () => {
  it("leaves one delta, or two, as they are", () => {
    expect(spans(packRuns([0].map(textDelta)))).toEqual(["0"]);
    expect(spans(packRuns([0, 1].map(textDelta)))).toEqual(["0", "1"]);
  });

  it("makes one row of as many deltas as there are", () => {
    const seqs = Array.from({ length: 50_000 }, (_, seq) => seq);

    expect(spans(packRuns(seqs.map(textDelta)))).toEqual(["0-49999"]);
  });

  it("starts another run where one is full, and leaves a rest that is too short", () => {
    const events = [0, 1, 2, 3, 4, 5, 6, 7].map(textDelta);

    expect(spans(packRuns(events, 3))).toEqual(["0-2", "3-5", "6", "7"]);
  });

  it("leaves a fact in its place between two runs", () => {
    const fact = { type: "x/new", seq: 3, time: 0, data: null };
    const events = [
      ...[0, 1, 2].map(textDelta),
      fact,
      ...[4, 5, 6].map(textDelta),
    ];

    expect(spans(packRuns(events))).toEqual(["0-2", "3", "4-6"]);
  });

  it("yields what it has before it reads on", () => {
    const read: number[] = [];
    function* source(): Generator<PackableEvent> {
      for (const seq of [0, 1, 2]) {
        read.push(seq);
        yield { type: "x/new", seq, time: 0, data: null };
      }
    }

    packRuns(source()).next();

    expect(read).toEqual([0]);
  });

  it.each<[what: string, path: string, put: JsonValue]>([
    ["another turn", "turn", 2],
    ["another step", "step", 2],
    ["another index", "chunk.index", 1],
    ["another kind", "chunk.type", "reasoning-delta"],
  ])("begins another run at %s", (_what, path, put) => {
    const events = [
      ...[0, 1, 2].map(textDelta),
      ...[3, 4, 5].map(textDelta).map((event) => changed(event, path, put)),
    ];

    expect(spans(packRuns(events))).toEqual(["0-2", "3-5"]);
  });

  it.each<[what: string, path: string, put?: JsonValue]>([
    ["another id", "chunk.id", "c2"],
    ["another name", "chunk.name", "read"],
    ["an empty name", "chunk.name", ""],
    ["no name", "chunk.name"],
  ])("begins another run of a tool call at %s", (_what, path, put) => {
    const events = [
      ...[0, 1, 2].map(toolDelta),
      ...[3, 4, 5].map(toolDelta).map((event) => changed(event, path, put)),
    ];

    expect(spans(packRuns(events))).toEqual(["0-2", "3-5"]);
  });

  it("begins another run where seqs do not follow one another", () => {
    const events = [0, 1, 2, 4, 5, 6, 6, 7, 8].map(textDelta);

    expect(spans(packRuns(events))).toEqual(["0-2", "4-6", "6-8"]);
  });

  it("begins another run where the gap in time is no safe integer", () => {
    const late = { time: Number.MAX_SAFE_INTEGER };
    const early = { time: Number.MIN_SAFE_INTEGER };
    const events = [
      ...[0, 1, 2].map((seq) => ({ ...textDelta(seq), ...late })),
      ...[3, 4, 5].map((seq) => ({ ...textDelta(seq), ...early })),
    ];

    expect(spans(packRuns(events))).toEqual(["0-2", "3-5"]);
  });

  it("does not pack a few of two kinds in turn", () => {
    const events = [0, 1, 2, 3, 4, 5].map((seq) =>
      seq % 2 === 0 ? textDelta(seq) : toolDelta(seq),
    );

    expect([...packRuns(events)]).toEqual(events);
  });

  it.each<[what: string, path: string, put?: JsonValue]>([
    ["a further key", "extra", 1],
    ["a further key in their chunk", "chunk.extra", 1],
    ["a further key __proto__ in their chunk", "chunk.__proto__", 1],
    ["a key that spells three", "turn,step,chunk", 1],
    ["no step", "step"],
    ["no index", "chunk.index"],
    ["no text", "chunk.text"],
    ["a turn that is no number", "turn", "1"],
    ["a step that is null", "step", null],
    ["an index that is no number", "chunk.index", "0"],
    ["a text that is no string", "chunk.text", 5],
    ["a chunk that is null", "chunk", null],
    ["a chunk that is a list", "chunk", ["text-delta", 0, "a"]],
    ["an unknown type of chunk", "chunk.type", "x/new"],
    ["the type of a block start", "chunk.type", "block-start"],
    ["the type of a tool call", "chunk.type", "tool-call-delta"],
  ])("does not pack text deltas with %s", (_what, path, put) => {
    const events = [0, 1, 2]
      .map(textDelta)
      .map((event) => changed(event, path, put));

    expect([...packRuns(events)]).toEqual(events);
  });

  it.each<[what: string, path: string, put?: JsonValue]>([
    ["no id", "chunk.id"],
    ["an id that is no string", "chunk.id", 1],
    ["a name that is null", "chunk.name", null],
    ["no arguments", "chunk.argumentsDelta"],
    ["arguments that are no string", "chunk.argumentsDelta", {}],
    ["text beside its arguments", "chunk.text", "a"],
  ])("does not pack tool-call deltas with %s", (_what, path, put) => {
    const events = [0, 1, 2]
      .map(toolDelta)
      .map((event) => changed(event, path, put));

    expect([...packRuns(events)]).toEqual(events);
  });

  it.each<[what: string, data: JsonValue]>([
    [
      "of their data",
      { step: 1, turn: 1, chunk: { type: "text-delta", index: 0, text: "a" } },
    ],
    [
      "of their chunk",
      { turn: 1, step: 1, chunk: { type: "text-delta", text: "a", index: 0 } },
    ],
    [
      "of a tool call",
      {
        turn: 1,
        step: 1,
        chunk: {
          type: "tool-call-delta",
          index: 0,
          name: "bash",
          id: "c1",
          argumentsDelta: "a",
        },
      },
    ],
  ])("does not pack deltas with another order of keys, %s", (_what, data) => {
    const events = [0, 1, 2].map((seq) => ({ ...textDelta(seq), data }));

    expect([...packRuns(events)]).toEqual(events);
  });

  it.each<[what: string, more: Partial<PackableEvent>]>([
    ["are ignorable", { ignorable: true }],
    ["have another order of keys", { keyOrder: "data,type,seq,time" }],
    ["are of another type", { type: "x/chunk" }],
  ])("does not pack deltas that %s", (_what, more) => {
    const events = [0, 1, 2].map((seq) => ({ ...textDelta(seq), ...more }));

    expect([...packRuns(events)]).toEqual(events);
  });

  it("packs deltas that say they are not ignorable and in our order of keys", () => {
    const usual = { ignorable: false, keyOrder: null };
    const events = [0, 1, 2].map((seq) => ({ ...textDelta(seq), ...usual }));

    expect(spans(packRuns(events))).toEqual(["0-2"]);
  });
});

describe("expandRun", () => {
  it.each<[what: string, path: string, put: JsonValue]>([
    ["one member", "data", { ...TEXT_PLACE, dt: [], texts: ["a"] }],
    ["two members", "data", { ...TEXT_PLACE, dt: [0], texts: ["a", "b"] }],
    ["empty texts", "data.texts", ["", "", ""]],
    ["NUL and lone surrogates (B001)", "data.texts", ["a\0", "\ud800", "b"]],
    ["negative and fractional places", "data.turn", -1.5],
    ["a step 0", "data.step", 0],
    ["a negative first time", "time0", -5],
    ["times down to the first safe integer", "time0", -MAX],
    ["times up to the last safe integer", "time0", MAX - 4],
    ["seqs up to the last safe integer", "seq0", MAX - 2],
  ])("accepts a row with %s", (_what, path, put) => {
    expect(() =>
      expandRow(altered(parseJson(TEXT_ROW), path, put)),
    ).not.toThrow();
  });

  it("accepts keys in any order and gives events with theirs in the usual one", () => {
    const row =
      '{"data":{"texts":["Gu","ten"," Tag"],"dt":[4,-1],"index":0,"step":2,"turn":1},"time0":1000,"seq0":7,"type":"text-chunks"}';

    const events = expandRow(parseJson(row));

    expect(textsOf(events)).toEqual(TEXT_EVENTS);
  });

  it("gives back a tool call without name", () => {
    const events = expandRow(altered(parseJson(TOOL_ROW), "data.name"));

    expect(textsOf(events)).toEqual(
      TOOL_EVENTS.map((line) => line.replace('"name":"bash",', "")),
    );
  });

  it("counts time from member to member", () => {
    const row = { ...TEXT_PLACE, dt: [5, -20, 0], texts: ["a", "b", "c", "d"] };
    const events = expandRow(altered(parseJson(TEXT_ROW), "data", row));

    expect(events.map(({ time }) => time)).toEqual([1000, 1005, 985, 985]);
  });

  it.each<Refusal>([
    ["no seq0", "seq0", undefined, "seq0"],
    ["a negative seq0", "seq0", -1, "seq0"],
    ["a fractional seq0", "seq0", 0.5, "seq0"],
    ["an unsafe seq0", "seq0", MAX + 1, "seq0"],
    ["a text for its seq0", "seq0", "7", "seq0"],
    ["no time0", "time0", undefined, "time0"],
    ["a fractional time0", "time0", 0.5, "time0"],
    ["an unsafe time0", "time0", MAX + 1, "time0"],
    ["a text for its time0", "time0", "1000", "time0"],
    ["no data", "data", undefined, "data"],
    ["a list for its data", "data", [], "data"],
    ["no turn", "data.turn", undefined, "data"],
    ["no step", "data.step", undefined, "data"],
    ["no index", "data.index", undefined, "data"],
    ["a text for its turn", "data.turn", "1", "data"],
    ["a null step", "data.step", null, "data"],
    ["a text for its index", "data.index", "0", "data"],
    ["no dt", "data.dt", undefined, "data.dt"],
    ["a number for its dt", "data.dt", 4, "data.dt"],
    ["a gap too few", "data.dt", [4], "data.dt"],
    ["a gap too many", "data.dt", [4, -1, 0], "data.dt"],
    ["a fractional gap", "data.dt", [4, 0.5], "data.dt[1]"],
    ["an unsafe gap", "data.dt", [MAX + 1, 0], "data.dt[0]"],
    ["a text for a gap", "data.dt", ["4", 0], "data.dt[0]"],
    ["a null gap", "data.dt", [4, null], "data.dt[1]"],
    ["no texts", "data.texts", undefined, "data.texts"],
    ["no text at all", "data.texts", [], "data.texts"],
    ["one string for its texts", "data.texts", "abc", "data.texts"],
    ["a further key", "data.extra", 1, "data.extra"],
    ["a further key __proto__", "data.__proto__", 1, "data.__proto__"],
    ["an id", "data.id", "c1", "data.id"],
    ["a name", "data.name", "bash", "data.name"],
    ["arguments beside its texts", "data.args", ["a"], "data.args"],
    ["times beyond the safe integers", "time0", MAX, "data.dt"],
    ["seqs beyond the safe integers", "seq0", MAX - 1, "data.dt"],
  ])("refuses a row of text with %s", (_what, path, put, refused) => {
    const row = altered(parseJson(TEXT_ROW), path, put);

    expect(() => expandRow(row)).toThrow(
      expect.objectContaining({ rule: "packed-row", path: refused }),
    );
  });

  it.each<Refusal>([
    ["no id", "data.id", undefined, "data.id"],
    ["a number for its id", "data.id", 1, "data.id"],
    ["a null name", "data.name", null, "data.name"],
    ["a number for its name", "data.name", 1, "data.name"],
    ["no arguments", "data.args", undefined, "data.args"],
    ["no argument at all", "data.args", [], "data.args"],
    ["texts beside its arguments", "data.texts", ["a"], "data.texts"],
  ])("refuses a row of a tool call with %s", (_what, path, put, refused) => {
    const row = altered(parseJson(TOOL_ROW), path, put);

    expect(() => expandRow(row)).toThrow(
      expect.objectContaining({ rule: "packed-row", path: refused }),
    );
  });

  it.each<[what: string, texts: JsonValue]>([
    ["a number", ["a", 1, "b"]],
    ["null", ["a", null, "b"]],
    ["a list", ["a", ["b"], "c"]],
  ])("refuses a row with %s among its texts", (_what, texts) => {
    expect(() =>
      expandRow(altered(parseJson(TEXT_ROW), "data.texts", texts)),
    ).toThrow(expect.objectContaining({ rule: "packed-row" }));
    expect(() =>
      expandRow(altered(parseJson(TOOL_ROW), "data.args", texts)),
    ).toThrow(expect.objectContaining({ rule: "packed-row" }));
  });

  it("refuses times that leave the safe integers on their way, even when they come back", () => {
    const row = altered(parseJson(TEXT_ROW), "data.dt", [1, -1]);

    expect(() => expandRow(altered(row, "time0", MAX))).toThrow(
      expect.objectContaining({ rule: "packed-row" }),
    );
  });

  it("refuses any JSON that is no row, and never fails in another way", () => {
    fc.assert(
      fc.property(fc.constantFrom(...STORAGE_TAGS), anyJson, (type, data) => {
        expect(() => expandRun({ type, seq0: 0, time0: 0 }, data)).toThrow(
          RuleViolation,
        );
        expect(() => runLength(type, data)).toThrow(RuleViolation);
      }),
      { numRuns: runs(200) },
    );
  });
});

/** What is put in a place (nothing: it is taken out) and the path that is refused. */
type Refusal = [
  what: string,
  path: string,
  put: JsonValue | undefined,
  refused: string,
];

/** A sequence of events, and those of it that no run may hold. */
interface Mix {
  readonly events: readonly PackableEvent[];
  readonly odd: readonly PackableEvent[];
}

type DataOf = (text: string) => JsonValue;

/** Data of plain deltas, of a few blocks. */
const plainData: readonly DataOf[] = [
  (text) => ({
    turn: 1,
    step: 1,
    chunk: { type: "text-delta", index: 0, text },
  }),
  (text) => ({
    turn: 1,
    step: 2,
    chunk: { type: "text-delta", index: 0, text },
  }),
  (text) => ({
    turn: 2.5,
    step: -1,
    chunk: { type: "reasoning-delta", index: 3, text },
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: {
      type: "tool-call-delta",
      index: 0,
      id: "c1",
      name: "bash",
      argumentsDelta: text,
    },
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: {
      type: "tool-call-delta",
      index: 0,
      id: "c1",
      argumentsDelta: text,
    },
  }),
];

/** Data that looks like a delta's and is not quite. */
const oddData: readonly DataOf[] = [
  (text) => ({
    turn: 1,
    chunk: { type: "text-delta", index: 0, text },
    step: 1,
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: { index: 0, type: "text-delta", text },
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: { type: "text-delta", index: 0, text, more: null },
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: { type: "text-delta", index: 0, text },
    more: text,
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: { type: "text-delta", index: 0, text: [text] },
  }),
  (text) => ({
    turn: 1,
    step: 1,
    chunk: {
      type: "tool-call-delta",
      index: 0,
      id: "c1",
      name: null,
      argumentsDelta: text,
    },
  }),
  (text) => ({ turn: 1, step: 1, chunk: { type: "finish", reason: text } }),
];

/** Some events of one block, or of one oddity. */
const anyBurst = fc.record({
  members: fc.array(
    fc.record({
      text: anyText,
      time: fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: -50, max: 50 }) },
        { weight: 1, arbitrary: fc.maxSafeInteger() },
        { weight: 1, arbitrary: fc.constantFrom(MAX, -MAX, 0) },
      ),
      seqStep: fc.oneof(
        { weight: 20, arbitrary: fc.constant(1) },
        { weight: 1, arbitrary: fc.constant(2) },
      ),
    }),
    { minLength: 1, maxLength: 8, size: "max" },
  ),
  kind: fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        isPlain: fc.constant(true),
        ignorable: fc.constantFrom(false, undefined),
        dataOf: fc.constantFrom(...plainData),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        isPlain: fc.constant(false),
        ignorable: fc.boolean(),
        dataOf: fc.oneof(
          fc.constantFrom(...oddData),
          anyJson.map(
            (data): DataOf =>
              () =>
                data,
          ),
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        isPlain: fc.constant(false),
        ignorable: fc.constant(true),
        dataOf: fc.constantFrom(...plainData),
      }),
    },
  ),
});

const anyMix: fc.Arbitrary<Mix> = fc
  .tuple(
    fc.constantFrom(0, 7, MAX - 200),
    fc.array(anyBurst, { maxLength: 6, size: "max" }),
  )
  .map(([firstSeq, bursts]) => {
    let seq = firstSeq;
    const events: PackableEvent[] = [];
    const odd: PackableEvent[] = [];
    for (const { members, kind } of bursts) {
      for (const { text, time, seqStep } of members) {
        const event = {
          type: "assistant/chunk",
          seq,
          time,
          data: kind.dataOf(text),
          ignorable: kind.ignorable,
        };
        events.push(event);
        if (!kind.isPlain) odd.push(event);
        seq += seqStep;
      }
    }
    return { events, odd };
  });

function textDelta(seq: number): PackableEvent {
  const chunk = { type: "text-delta", index: 0, text: `text ${seq}` };
  return chunkEvent(seq, { turn: 1, step: 1, chunk });
}

function toolDelta(seq: number): PackableEvent {
  const call = { id: "c1", name: "bash", argumentsDelta: `text ${seq}` };
  const chunk = { type: "tool-call-delta", index: 0, ...call };
  return chunkEvent(seq, { turn: 1, step: 1, chunk });
}

function chunkEvent(seq: number, data: JsonValue): PackableEvent {
  return { type: "assistant/chunk", seq, time: 1_000, data };
}

function changed(
  event: PackableEvent,
  path: string,
  put?: JsonValue,
): PackableEvent {
  return { ...event, data: altered(event.data, path, put) };
}

/** First and last seq of each row. */
function spans(rows: Iterable<ChunkRun | PackableEvent>): string[] {
  return [...rows].map((row) =>
    isRun(row) ? `${row.seq0}-${row.seq0 + row.eventCount - 1}` : `${row.seq}`,
  );
}

/** The events again, from what JSON text keeps of the rows. */
function expanded(rows: Iterable<ChunkRun | PackableEvent>): PackableEvent[] {
  return [...rows].flatMap((row) =>
    isRun(row) ? expandRow(parseJson(rowText(row))) : [row],
  );
}

function expandRow(value: JsonValue): PackableEvent[] {
  const row: {
    type: StorageTag;
    seq0: JsonValue;
    time0: JsonValue;
    data: JsonValue;
  } = JSON.parse(stringifyJson(value));
  return expandRun(row, row.data);
}

function parseEvent(line: string): PackableEvent {
  return JSON.parse(line);
}

function textsOf(rows: Iterable<ChunkRun | PackableEvent>): string[] {
  return [...rows].map(rowText);
}

/** A row on its line of a log file. */
function rowText(row: ChunkRun | PackableEvent): string {
  if (!isRun(row)) return eventText(row);
  const { type, seq0, time0, data } = row;
  return stringifyJson({ type, seq0, time0, data });
}

function eventText(event: PackableEvent): string {
  const { type, seq, time, data, ignorable } = event;
  const mark = ignorable === true ? { ignorable } : {};
  return stringifyJson({ type, seq, time, data, ...mark });
}

function partsOf<T>(items: readonly T[], cuts: readonly number[]): T[][] {
  const bounds = [0, ...cuts.toSorted((a, b) => a - b), items.length];
  return bounds.map((start, at) => items.slice(start, bounds[at + 1]));
}
