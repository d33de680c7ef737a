import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/events/json.ts";
import { stringifyJson } from "../../src/events/stringify-json.ts";
import { runs } from "../support/property-runs.ts";
import { anyJson } from "./any-json.ts";

/** Deep enough to overflow the stack of the engine's own serialiser. */
const DEEP = 20_000;

describe("stringifyJson", () => {
  it("writes what JSON.stringify writes", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(stringifyJson(value)).toBe(JSON.stringify(value));
      }),
      { numRuns: runs(200) },
    );
  });

  it("writes any value below levels that JSON.stringify overflows at as at the top (B001, B012)", () => {
    expect(() => JSON.stringify(below(DEEP, 1))).toThrow(RangeError);
    fc.assert(
      fc.property(anyJson, (value) => {
        expect(stringifyJson(below(DEEP, value))).toBe(
          textBelow(DEEP, JSON.stringify(value)),
        );
      }),
      { numRuns: runs(60) },
    );
  });

  it("writes 5,000 levels of objects (B012)", () => {
    let value: JsonValue = {};
    for (let level = 1; level < 5_000; level += 1) value = { 'k"': value };

    expect(stringifyJson(value)).toBe(
      `${'{"k\\"":'.repeat(4_999)}{}${"}".repeat(4_999)}`,
    );
  });

  it.each([1_000, 3_000, 5_000])(
    "writes 5,000 levels for a caller that stands %i frames deep",
    (frames) => {
      const text = atStackDepth(frames, () => stringifyJson(below(5_000, 1)));

      expect(text).toBe(textBelow(5_000, "1"));
    },
  );

  it("escapes NUL and lone surrogates, so that Postgres text holds them (B001)", () => {
    expect(stringifyJson({ text: "a\0b", tail: "\ud800" })).toBe(
      '{"text":"a\\u0000b","tail":"\\ud800"}',
    );
  });

  it("lets any error but the overflow of the stack through", () => {
    expect(() => stringifyJson({ count: 1n })).toThrow(TypeError);
  });

  it("refuses a cycle instead of writing for ever", () => {
    const value: Record<string, unknown> = {};
    value["self"] = value;

    expect(() => stringifyJson(value)).toThrow(TypeError);
  });
});

/** `value` inside so many arrays. */
function below(levels: number, value: JsonValue): JsonValue {
  let nested = value;
  for (let level = 0; level < levels; level += 1) nested = [nested];
  return nested;
}

function textBelow(levels: number, text: string): string {
  return `${"[".repeat(levels)}${text}${"]".repeat(levels)}`;
}

function atStackDepth<T>(frames: number, run: () => T): T {
  return frames === 0 ? run() : atStackDepth(frames - 1, run);
}
