import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/events/json.ts";
import { readUsage, usageOfEvent } from "../../src/events/token-usage.ts";
import { runs } from "../support/property-runs.ts";
import { anyJson } from "./any-json.ts";

const NONE = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
  flagged: false,
};

const BUCKETS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
];

describe("readUsage", () => {
  it("reads every bucket", () => {
    const usage = {
      inputTokens: 1,
      outputTokens: 2,
      cacheReadTokens: 3,
      cacheWriteTokens: 4,
      reasoningTokens: 5,
    };

    expect(readUsage(usage)).toEqual({ ...usage, flagged: false });
  });

  it.each(BUCKETS)(
    "takes a missing or null %s for not reported (B062)",
    (key) => {
      expect(readUsage({})).toEqual(NONE);
      expect(readUsage({ [key]: null })).toEqual(NONE);
    },
  );

  it("keeps the other buckets of a report with a null (B062)", () => {
    expect(readUsage({ inputTokens: null, outputTokens: 5 })).toEqual({
      ...NONE,
      outputTokens: 5,
    });
  });

  it.each<[what: string, count: number]>([
    ["0", 0],
    ["a million", 1_000_000],
    ["the largest count that is believed", 1_000_000_000_000],
  ])("believes %s", (_what, count) => {
    expect(readUsage({ inputTokens: count })).toEqual({
      ...NONE,
      inputTokens: count,
    });
  });

  it.each<[what: string, count: JsonValue]>([
    ["a negative count, as of more cache hits than prompt (B052, B062)", -3],
    ["a fraction", 0.5],
    ["1e30 (B062)", 1e30],
    ["one more than the largest count", 1_000_000_000_001],
    ["the largest safe integer, two of which overflow", 2 ** 53 - 1],
    ["a number as text", "12"],
    ["an empty text", ""],
    ["a boolean", true],
    ["a list", [1]],
    ["an object", {}],
  ])("flags %s and leaves it out, in any bucket", (_what, count) => {
    expect(BUCKETS.map((key) => readUsage({ [key]: count }))).toEqual(
      BUCKETS.map(() => ({ ...NONE, flagged: true })),
    );
  });

  it("keeps the good buckets of a flagged report (B052)", () => {
    expect(readUsage({ inputTokens: -1, outputTokens: 990 })).toEqual({
      ...NONE,
      outputTokens: 990,
      flagged: true,
    });
  });

  it("does not take buckets from the prototype", () => {
    const usage: JsonValue = JSON.parse('{"__proto__":{"inputTokens":5}}');

    expect(readUsage(usage)).toEqual(NONE);
  });

  it("passes over keys it does not know", () => {
    expect(readUsage({ outputTokens: 1, totalTokens: -5 })).toEqual({
      ...NONE,
      outputTokens: 1,
    });
  });

  it.each<[JsonValue | undefined]>([[undefined], [null]])(
    "is null for %j: there is no report",
    (value) => {
      expect(readUsage(value)).toBeNull();
    },
  );

  it.each<[JsonValue]>([["12"], [12], [true], [[1, 2]]])(
    "flags the report %j, which is no object",
    (value) => {
      expect(readUsage(value)).toEqual({ ...NONE, flagged: true });
    },
  );

  it("gives counts that can be summed, for any JSON in any bucket (B062)", () => {
    const report = fc.dictionary(fc.constantFrom(...BUCKETS), anyJson);
    fc.assert(
      fc.property(fc.oneof(report, anyJson), (value) => {
        const { flagged, ...counts } = readUsage(value) ?? NONE;
        const reported = Object.values(counts).filter((n) => n !== null);

        expect(reported.every((n) => Number.isInteger(n) && n >= 0)).toBe(true);
        expect(reported.every((n) => Number.isSafeInteger(n * 1_000))).toBe(
          true,
        );
        expect(flagged).toBeTypeOf("boolean");
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("usageOfEvent", () => {
  const usage = { inputTokens: 3, outputTokens: 1 };
  const read = { ...NONE, ...usage };

  it("reads the usage of a message", () => {
    const data = { turn: 1, step: 1, message: {}, usage };

    expect(usageOfEvent({ type: "assistant/message", data })).toEqual(read);
  });

  it("reads the usage of a usage chunk", () => {
    const data = { turn: 1, step: 1, chunk: { type: "usage", usage } };

    expect(usageOfEvent({ type: "assistant/chunk", data })).toEqual(read);
  });

  it.each<[what: string, type: string, data: JsonValue]>([
    ["a message without usage", "assistant/message", { turn: 1 }],
    ["a message whose usage is null", "assistant/message", { usage: null }],
    ["another chunk", "assistant/chunk", { chunk: { type: "finish", usage } }],
    [
      "a usage chunk without usage",
      "assistant/chunk",
      { chunk: { type: "usage" } },
    ],
    ["usage beside the chunk", "assistant/chunk", { chunk: null, usage }],
    ["a compaction, whose request is another", "compaction/summary", { usage }],
    ["a user message", "user/message", { usage }],
    ["data that is no object", "assistant/message", [usage]],
  ])("is null for %s", (_what, type, data) => {
    expect(usageOfEvent({ type, data })).toBeNull();
  });
});
