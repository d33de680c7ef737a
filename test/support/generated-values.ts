/** Arbitraries for the leaves of generated logs: odd strings, JSON, token usage, and the steps of a bad clock. */

import * as fc from "fast-check";

/** Any value that `JSON.parse` can give back exactly as it was. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

/** Token counts as a provider reports them. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly reasoningTokens?: number;
}

/** How the clock moves before an event: by some milliseconds, or to a moment. */
export type Tick = { readonly byMs: number } | { readonly toMs: number };

/** Strings that break careless storage; the first ones are what counterexamples shrink to. */
const PIECES = [
  "a",
  "word ",
  "\u0000",
  "\ud83d",
  "\ude00",
  "😀",
  "👩‍🌾",
  "汉字",
  "e\u0301",
  "\u2028",
  "\ufeff",
  '"\\',
  "\r\n",
  "%_$1'",
  "𝒳",
  "\u202e",
  "\u001b[31m",
];

/** Names that collide with the prototype of plain objects. */
const PROTOTYPE_NAMES = [
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
];

/** Text of any kind, empty too. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("", "hello", "one two", " ", "\n") },
  {
    weight: 3,
    arbitrary: fc
      .array(fc.constantFrom(...PIECES), { maxLength: 5 })
      .map((pieces) => pieces.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
);

/** Names, keys and ids: never empty. */
export const oddName: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("c1", "c2", "bash", "read") },
  { weight: 2, arbitrary: fc.constantFrom(...PROTOTYPE_NAMES) },
  { weight: 1, arbitrary: oddText.map((text) => `x${text}`) },
);

/** Null most of the time. */
export function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary },
  );
}

/** Arrays of 0 to `most` elements, every length as likely as another; fast-check alone prefers short ones. */
export function some<T>(
  arbitrary: fc.Arbitrary<T>,
  most: number,
): fc.Arbitrary<T[]> {
  return fc.noBias(fc.array(arbitrary, { maxLength: most, size: "max" }));
}

const number = fc.oneof(
  fc.integer({ min: -5, max: 1000 }),
  fc.constantFrom(0.1, -2.5, 1e21, 5e-324, 2 ** 60, Number.MAX_SAFE_INTEGER),
);

/** Lossless JSON, with own keys such as `__proto__`. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    number,
    oddText,
    fc.array(tie("json"), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.oneof(oddName, oddText), tie("json")), {
        maxLength: 3,
      })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).json;

const tokens = fc.oneof(
  fc.nat({ max: 5000 }),
  fc.constantFrom(0, 1_000_000_000),
);

/** Usage with each optional count present or not. */
export const usage: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: tokens,
    outputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    reasoningTokens: tokens,
  },
  { requiredKeys: ["inputTokens", "outputTokens"] },
);

const WEEK_MS = 7 * 24 * 3600 * 1000;
const byMs = (ms: number): Tick => ({ byMs: ms });

/** A clock that mostly stands or creeps, and at times goes back, leaps by weeks or shows a moment before 1970. */
export const ticks: fc.Arbitrary<Tick[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 0, 1, 7).map(byMs) },
    { weight: 3, arbitrary: fc.integer({ min: -50, max: 400 }).map(byMs) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: -9, max: 9 }).map((n) => byMs(n * WEEK_MS)),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(-1, 0, -62_135_596_800_000, 1_790_000_000_000)
        .map((toMs): Tick => ({ toMs })),
    },
  ),
  { minLength: 1, maxLength: 40 },
);

/** The same clock with moments at both ends of what an event may carry. */
export const extremeTicks: fc.Arbitrary<Tick[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -50, max: 400 }).map(byMs) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(
          Number.MAX_SAFE_INTEGER,
          Number.MIN_SAFE_INTEGER,
          1_790_000_000_000,
        )
        .map((toMs): Tick => ({ toMs })),
    },
  ),
  { minLength: 1, maxLength: 40 },
);
