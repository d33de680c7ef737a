import fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { expect, it } from "vitest";
import type { JsonValue } from "../../src/events/json.ts";
import { isSameJson } from "../../src/events/same-json.ts";
import { runs } from "../support/property-runs.ts";

/** Small values, so that two of them are often alike. */
const value = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue>(null, true, 0, 1, "", "a"),
    fc.array(tie("value"), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom("a", "b", "__proto__"), tie("value"), {
      maxKeys: 2,
    }),
  ),
})).value;

it("agrees with deep equality, whatever the order of keys", () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const [a, b] = [JSON.stringify(one), JSON.stringify(other)];
      expect(isSameJson(JSON.parse(a), JSON.parse(b))).toBe(
        isDeepStrictEqual(JSON.parse(a), JSON.parse(b)),
      );
    }),
    { numRuns: runs(2_000) },
  );
});

it("takes keys in another order for the same, and null for something", () => {
  expect(
    isSameJson({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }),
  ).toBe(true);
  expect(isSameJson({ a: null }, {})).toBe(false);
  expect(isSameJson({ a: null }, { b: null })).toBe(false);
});
