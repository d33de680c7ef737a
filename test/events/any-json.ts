/** Arbitraries of JSON, rich in what careless copies, serialisers and databases lose. */
import * as fc from "fast-check";
import { parseJson, type JsonValue } from "../../src/events/json.ts";

/** NUL, lone surrogates, escapes that look like them, and plain text. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 8 }),
  fc.constantFrom(
    "",
    "a\0b",
    "\\u0000",
    "\ud800",
    "\udc00\ud800",
    "현\ud99c 보유",
    "👩‍👩‍👧",
    "\u2028",
    "\ufeff",
    '"\\/\b\n',
  ),
);

const anyKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "toJSON", "length"),
  fc.constantFrom("10", "9", "0", "-1", "01", "1.5", "4294967295"),
  fc.constantFrom("a", "a\0", "a.b", "[0]", "\ud800"),
  anyText,
);

const anyNumber: fc.Arbitrary<number> = fc.oneof(
  fc.integer(),
  // Adding 0 makes -0, which JSON does not hold, a 0.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  fc.constantFrom(0, 0.1, 1e21, 5e-324, Number.MAX_VALUE, 2 ** 53, -(2 ** 64)),
);

/** Any value that `JSON.parse` can give. */
export const anyJson: fc.Arbitrary<JsonValue> = fc.letrec<{
  value: JsonValue;
}>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom(null, true, false),
    anyNumber,
    anyText,
    fc.jsonValue().map((value) => parseJson(JSON.stringify(value))),
    fc.array(tie("value"), { maxLength: 4 }),
    fc
      .array(fc.tuple(anyKey, tie("value")), { maxLength: 4 })
      .map((entries) => Object.fromEntries(entries)),
  ),
})).value;
