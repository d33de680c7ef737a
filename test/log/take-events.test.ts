import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isDeltaRun } from "../../src/events/delta-run.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { encodeAppend } from "../../src/log/encode-append.ts";
import { takeEvents, takeRecords } from "../../src/log/take-events.ts";

const LIMITS = { maxEventCharacters: 1e6, maxAppendCharacters: 1e6 };
const NOW = 1_700_000_000_000;

const anyChunk = fc.oneof(
  fc.record({
    type: fc.constantFrom("text-delta", "reasoning-delta"),
    index: fc.constantFrom(0, 1),
    text: fc.string(),
  }),
  fc.record({
    type: fc.constant("tool-call-delta"),
    index: fc.constantFrom(0, 1),
    id: fc.constantFrom("a", "b"),
    argumentsDelta: fc.string(),
  }),
  fc.record({
    type: fc.constant("tool-call-delta"),
    index: fc.constant(0),
    id: fc.constant("a"),
    name: fc.constantFrom("read", "write"),
    argumentsDelta: fc.string(),
  }),
  fc.record({ type: fc.constant("text-start"), index: fc.constant(0) }),
);

/** Few blocks and long stretches, so that runs come about, begin and break off. */
const deltas = fc
  .array(
    fc.record({
      chunk: anyChunk,
      times: fc.integer({ min: 1, max: 40 }),
      time: fc.option(
        fc.constantFrom(0, 7, -Number.MAX_SAFE_INTEGER, 2 ** 53 - 1),
        { nil: undefined },
      ),
      turn: fc.constantFrom(1, 1, 1, 2),
    }),
    { maxLength: 12 },
  )
  .map((parts): NewEvent[] =>
    parts.flatMap(({ chunk: part, times, time, turn }) =>
      Array.from({ length: times }, () => ({
        type: "assistant/chunk",
        ...(time === undefined ? {} : { time }),
        data: { turn, step: 1, chunk: { ...part } },
      })),
    ),
  );

describe("events that are taken over", () => {
  it("are stored as if each had been taken by itself", () => {
    fc.assert(
      fc.property(deltas, (events) => {
        const together = takeEvents(events, 0);
        const each = events.flatMap((event) => takeEvents([event], null));

        const { columns, digest, ...counts } = encodeAppend(
          together,
          NOW,
          LIMITS,
        );

        const expected = encodeAppend(each, NOW, LIMITS);
        expect({ columns, digest, ...counts }).toEqual(expected);
        expect(counts.eventCount).toBe(events.length);
      }),
      { numRuns: 200 },
    );
  });

  it("are stored as if they came from a file", () => {
    fc.assert(
      fc.property(deltas, (events) => {
        const records = events.map((event) => ({
          event: JSON.parse(JSON.stringify(event)),
          characters: 100,
        }));

        const read = encodeAppend(takeRecords(records, 0), NOW, LIMITS);

        expect(read).toEqual(encodeAppend(takeEvents(events, 0), NOW, LIMITS));
      }),
      { numRuns: 100 },
    );
  });

  it("have the same digest when they are sent again at another time", () => {
    fc.assert(
      fc.property(deltas, (events) => {
        const given = events.filter(({ time }) => time === undefined);
        const first = encodeAppend(takeEvents(given, 0), NOW, LIMITS);
        const again = encodeAppend(takeEvents(given, 0), NOW + 5_000, LIMITS);

        expect(again.digest).toEqual(first.digest);
      }),
    );
  });

  it("are no longer the caller's", () => {
    const events = [1, 2, 3].map(() => delta({ text: "before" }));
    const taken = takeEvents(events, 0);

    for (const event of events) event.data.chunk.text = "after";

    expect(JSON.stringify(taken)).not.toContain("after");
  });

  it("are a run where they are plain", () => {
    expect(outcomeOf(three({}, {}))).toBe("run");
  });

  it.each([
    ["a mark", { ignorable: true }, {}],
    ["a key of the chunk more", {}, { more: 1 }],
    ["the keys of the chunk in another order", {}, { index: undefined }],
  ])("stay events by themselves with %s", (_, event, part) => {
    const given = three(event, part).map((one) =>
      JSON.parse(JSON.stringify(one), (_key, value: unknown) =>
        isBare(value) ? { ...value, index: 0 } : value,
      ),
    );

    expect(outcomeOf(given)).toBe("events");
  });

  it.each([
    ["a symbol key", { [Symbol("s")]: 1 }],
    ["a key that is undefined", { more: undefined }],
    ["a text that is none", { text: 1 }],
    ["an index of -0", { index: -0 }],
  ])("are refused with %s in their chunk", (_, part) => {
    expect(outcomeOf(three({}, part))).toBe("refused");
  });

  it.each([[null], [-0], [1.5], ["1"]])(
    "are refused at the time %j",
    (time) => {
      expect(outcomeOf(three({ time }, {}))).toBe("refused");
    },
  );

  it("are refused with a seq that is null", () => {
    expect(outcomeOf(three({ seq: null }, {}))).toBe("refused");
  });
});

function delta({ text }: { text: string }) {
  const part = { type: "text-delta", index: 0, text };
  return { type: "assistant/chunk", data: { turn: 1, step: 1, chunk: part } };
}

function three(event: object, part: object): NewEvent[] {
  return ["a", "b", "c"].map((text) => {
    const plain = delta({ text });
    const chunk = { ...plain.data.chunk, ...part };
    return { ...plain, ...event, data: { ...plain.data, chunk } };
  });
}

/** A chunk whose index is missing. */
function isBare(value: unknown): value is { readonly text: string } {
  return (
    typeof value === "object" &&
    value !== null &&
    "text" in value &&
    !("index" in value)
  );
}

function outcomeOf(events: readonly NewEvent[]): "run" | "events" | "refused" {
  try {
    return takeEvents(events, 0).some(isDeltaRun) ? "run" : "events";
  } catch {
    return "refused";
  }
}
