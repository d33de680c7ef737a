import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findLossyNumber } from "../../src/io/lossy-numbers.ts";

describe("a number in JSON text", () => {
  it.each([
    ["-0", "is -0"],
    ["-0.0", "is -0"],
    ["-0e7", "is -0"],
    ["1e999", "beyond the largest number"],
    ["-1e999", "beyond the largest number"],
    ["1e-400", "below the smallest number"],
    ["9007199254740993", "would be rounded to 9007199254740992"],
    ["-9007199254740993", "would be rounded to -9007199254740992"],
    ["9007199254740993.0", "would be rounded"],
    ["90071992547409930e-1", "would be rounded"],
    ["12345678901234567890", "would be rounded"],
    ["100000000000000000000000000000001", "would be rounded"],
  ])("%s is lost (B012)", (token, reason) => {
    const found = findLossyNumber(`{"data":{"a":["x",{"n":${token}}]}}`);

    expect(found).toMatchObject({ path: "data.a[1].n", token });
    expect(found?.reason).toContain(reason);
  });

  it.each([
    "0",
    "-1",
    "1.0",
    "1e21",
    "1E+2",
    "0.1",
    "-0.5",
    "0.1000000000000000055511151231257827",
    "3.0000000000000004",
    "9007199254740991",
    "9007199254740992",
    "12345678901234567000",
    "1000000000000000000000",
    "1.7976931348623157e308",
    "5e-324",
  ])("%s is kept (B012)", (token) => {
    expect(findLossyNumber(`{"data":[${token}]}`)).toBeNull();
  });

  it("is not looked for inside of strings and keys", () => {
    const texts = ["-0", '\\"-0', "1e999 \\\\", "12345678901234567890", '"'];
    const value = Object.fromEntries(texts.map((text) => [text, text]));

    expect(findLossyNumber(JSON.stringify({ value }))).toBeNull();
  });

  it("is found behind strings that hold quotes and backslashes", () => {
    const text = JSON.stringify({ a: 'x\\"', b: "\\", c: { d: [1, "-0"] } });

    expect(findLossyNumber(text.replace('"-0"', "-0"))).toMatchObject({
      path: "c.d[1]",
    });
  });

  it("is found behind a string of many millions of characters", () => {
    const text = `{"big":"${"x1e9\\\\".repeat(8_000_000)}","n":-0}`;

    expect(findLossyNumber(text)).toMatchObject({ path: "n" });
  });

  it("is never found in what JavaScript has written", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const written = JSON.stringify(JSON.parse(text));
        expect(findLossyNumber(written)).toBeNull();
      }),
    );
  });

  it("is found exactly when a whole number does not come back", () => {
    fc.assert(
      fc.property(fc.bigInt(-(2n ** 80n), 2n ** 80n), (number) => {
        const isKept =
          BigInt(Number(number)) === number ||
          JSON.stringify(Number(number)) === String(number);
        expect(findLossyNumber(`[${number}]`) === null).toBe(isKept);
      }),
    );
  });
});
