import { isDeepStrictEqual } from "node:util";
import { runInNewContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { detachJson, MAX_JSON_DEPTH } from "../../src/events/lossless-json.ts";
import { runs } from "../support/property-runs.ts";
import { anyJson } from "./any-json.ts";

describe("detachJson", () => {
  it("gives back any JSON value as it is (B001, B003, B012)", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const copy = detachJson(value);

        expect(isDeepStrictEqual(copy, value)).toBe(true);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
      }),
      { numRuns: runs(300) },
    );
  });

  it("gives back any JSON value that stands below a hundred levels", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        let nested: unknown = value;
        for (let level = 0; level < 100; level += 1) nested = [nested];

        expect(JSON.stringify(detachJson(nested))).toBe(JSON.stringify(nested));
      }),
      { numRuns: runs(100) },
    );
  });

  it("shares no object with its input", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const copied = new Set(objectsIn(detachJson(value)));

        expect(objectsIn(value).filter((part) => copied.has(part))).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  it("gives a copy that no later change of the input reaches", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const copy = detachJson(value);
        const text = JSON.stringify(copy);

        for (const part of objectsIn(value)) Reflect.set(part, "0", "changed");

        expect(JSON.stringify(copy)).toBe(text);
      }),
      { numRuns: runs(200) },
    );
  });

  it.each([
    ["1e21", 1e21],
    ["the smallest number", 5e-324],
    ["the largest number", Number.MAX_VALUE],
    ["an unsafe integer", 2 ** 53 + 2],
    ["a fraction", 0.1],
    ["a string with NUL (B001)", "a\0b"],
    ["the six characters that look like an escaped NUL (B001)", "\\u0000"],
    ["a string with a lone surrogate (B006)", "현\ud99c 보유"],
    ["keys that differ by a NUL only (B009)", { a: 1, "a\0": 2 }],
    ["an empty object", {}],
    ["an empty array", []],
  ])("accepts %s", (_what, value) => {
    expect(detachJson(value)).toStrictEqual(value);
  });

  it("keeps an own key __proto__ as a property and the prototype ordinary", () => {
    const copy = detachJson(JSON.parse('{"__proto__":{"polluted":1},"b":2}'));

    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":1},"b":2}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it("keeps the order of keys, integer-like ones first as the engine has them", () => {
    const copy = detachJson({ b: 1, "10": 2, a: 3, "9": 4 });

    expect(JSON.stringify(copy)).toBe('{"9":4,"10":2,"b":1,"a":3}');
  });

  it("accepts an object without prototype and gives an ordinary one", () => {
    const bare: unknown = Object.assign(Object.create(null), { a: 1 });

    const copy = detachJson(bare);

    expect(copy).toStrictEqual({ a: 1 });
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it("accepts objects and arrays of another realm", () => {
    const foreign: unknown = runInNewContext("({ a: [1, { b: null }] })");

    expect(detachJson(foreign)).toStrictEqual({ a: [1, { b: null }] });
  });

  it("reads a getter once and keeps what it gave then", () => {
    const answers = ["first", "second"];
    const value = {
      get text() {
        return answers.shift();
      },
    };

    expect(detachJson(value)).toStrictEqual({ text: "first" });
    expect(answers).toEqual(["second"]);
  });

  it.each<[what: string, neighbour: unknown]>([
    ["a value nested deep", nestedArrays(1_000)],
    ["an own key __proto__", JSON.parse('{"__proto__":1}')],
    ["an object without prototype", Object.create(null)],
    ["an object of another realm", runInNewContext("({ a: 1 })")],
  ])("reads a getter once beside %s", (_what, neighbour) => {
    const answers = ["first", "second"];
    const value = {
      get text() {
        return answers.shift();
      },
      neighbour,
    };

    detachJson(value);

    expect(answers).toEqual(["second"]);
  });

  it("checks the very value that a getter gave", () => {
    const answers: unknown[] = [Number.NaN, 1];
    const value = {
      get count() {
        return answers.shift();
      },
    };

    expect(() => detachJson(value)).toThrow(refusal(".count", /NaN/));
  });

  it("lets the exception of a getter through", () => {
    const failure = new Error("from the getter");
    const value = {
      get text(): string {
        throw failure;
      },
    };

    expect(() => detachJson(value)).toThrow(failure);
  });

  it("never calls toJSON", () => {
    const calls: string[] = [];
    const value = { toJSON: () => calls.push("called") };

    expect(() => detachJson(value)).toThrow(refusal(".toJSON", /function/));
    expect(calls).toEqual([]);
  });

  it("accepts one object in two places and copies it for each", () => {
    const shared = { list: [1] };

    const copy = detachJson({ left: shared, right: [shared, shared] });

    expect(copy).toStrictEqual({
      left: { list: [1] },
      right: [{ list: [1] }, { list: [1] }],
    });
    expect(new Set(objectsIn(copy)).size).toBe(8);
  });
});

describe("detachJson refuses, wherever it stands,", () => {
  const NOT_JSON: [what: string, value: unknown, reason: RegExp][] = [
    ["-0 (B012)", -0, /^is -0/],
    ["NaN", Number.NaN, /^is NaN/],
    ["Infinity", Number.POSITIVE_INFINITY, /^is Infinity/],
    ["-Infinity", Number.NEGATIVE_INFINITY, /^is -Infinity/],
    ["undefined", undefined, /^is undefined/],
    ["a bigint", 1n, /^is bigint/],
    ["a symbol", Symbol("s"), /^is symbol/],
    ["a function", () => 1, /^is function/],
    ["a Date", new Date(0), /not a plain object/],
    ["a Date of another realm", runInNewContext("new Date(0)"), /not a plain/],
    ["a Map", new Map([["a", 1]]), /not a plain object/],
    ["a Set", new Set([1]), /not a plain object/],
    ["a RegExp", /x/, /not a plain object/],
    ["a Buffer", Buffer.from("x"), /not a plain object/],
    ["a typed array", new Uint8Array([1]), /not a plain object/],
    ["an Error", new Error("x"), /not a plain object/],
    ["a boxed number", Object(1), /not a plain object/],
    ["a boxed string", Object("s"), /not a plain object/],
    ["a boxed boolean", Object(true), /not a plain object/],
    [
      "a class instance",
      new (class {
        x = 1;
      })(),
      /not a plain object/,
    ],
    ["an object that inherits", Object.create({ a: 1 }), /not a plain object/],
    [
      "an object that inherits from one without prototype",
      Object.create(Object.assign(Object.create(null), { a: 1 })),
      /not a plain object/,
    ],
    [
      "an object whose prototype only looks like Object.prototype",
      Object.create(
        Object.assign(Object.create(null), { isPrototypeOf: 1, a: 1 }),
      ),
      /not a plain object/,
    ],
    ["an object with a symbol key", { [Symbol("s")]: 1 }, /symbol keys/],
    [
      "an object with a hidden property",
      Object.defineProperty({ a: 1 }, "b", { value: 2 }),
      /hidden properties/,
    ],
    ["a sparse array", Object.assign([], { 1: "x" }), /not a plain dense/],
    ["an array with a property", Object.assign([1], { x: 1 }), /not a plain/],
    [
      "an array with a symbol key",
      Object.assign([1], { [Symbol("s")]: 1 }),
      /not a plain dense array/,
    ],
    ["an Array subclass", class extends Array {}.of(1), /not a plain dense/],
    [
      "an Array subclass of another realm",
      runInNewContext("(class extends Array {}).of(1)"),
      /not a plain dense array/,
    ],
    [
      "an array without prototype",
      Object.setPrototypeOf([1], null),
      /not a plain dense array/,
    ],
    [
      "an array that inherits from an array",
      Object.setPrototypeOf([1], [2]),
      /not a plain dense array/,
    ],
  ];

  it.each(NOT_JSON)("%s", (_what, value, reason) => {
    expect(() => detachJson(value)).toThrow(refusal("", reason));
    expect(() => detachJson({ a: 1, chunk: { text: value } })).toThrow(
      refusal(".chunk.text", reason),
    );
    expect(() => detachJson([[], { b: [0, value] }])).toThrow(
      refusal("[1].b[1]", reason),
    );
  });

  it("an array with a hole and a property, which has as many keys as a dense one", () => {
    const value: unknown = Object.assign([], { 1: "x", extra: 1 });

    expect(() => detachJson({ value })).toThrow(
      refusal(".value[0]", /undefined/),
    );
  });
});

describe("detachJson refuses cycles", () => {
  it("of an object that holds itself", () => {
    const value: Record<string, unknown> = { a: 1 };
    value["self"] = value;

    expect(() => detachJson(value)).toThrow(refusal(".self", /refers back/));
  });

  it("of an array that holds itself", () => {
    const value: unknown[] = [1];
    value.push([value]);

    expect(() => detachJson(value)).toThrow(refusal("[1][0]", /refers back/));
  });

  it("of several objects, naming where the circle closes", () => {
    const parent: Record<string, unknown> = { name: "parent" };
    const child = { name: "child", links: [{ parent }] };
    parent["children"] = [{ name: "other" }, child];

    expect(() => detachJson({ tree: parent })).toThrow(
      refusal(".tree.children[1].links[0].parent", /refers back/),
    );
  });
});

describe("the depth that detachJson accepts", () => {
  it("is 5,000 levels, of arrays and of objects (B012)", () => {
    expect(MAX_JSON_DEPTH).toBe(5_000);
    expect(levelsOf(detachJson(nestedArrays(5_000)))).toBe(5_000);
    expect(levelsOf(detachJson(nestedObjects(5_000)))).toBe(5_000);
  });

  it.each([
    ["one level more", nestedArrays(5_001)],
    ["one level more, of objects", nestedObjects(5_001)],
    ["200,000 levels, without a stack overflow", nestedArrays(200_000)],
  ])("is not %s, and the error names the limit (B012)", (_what, value) => {
    expect(() => detachJson(value)).toThrow(
      expect.objectContaining({ reason: "is nested deeper than 5000 levels" }),
    );
  });

  it("is the same for a caller that stands deep in the stack", () => {
    const copy = atStackDepth(5_000, () => detachJson(nestedArrays(5_000)));

    expect(levelsOf(copy)).toBe(5_000);
  });

  it("does not bound how wide a value is", () => {
    const wide = Array.from({ length: 200_000 }, (_, at) => [at]);

    expect(JSON.stringify(detachJson(wide))).toBe(JSON.stringify(wide));
  });
});

/** Matches the refusal of what stands at `path`. */
function refusal(path: string, reason: RegExp): unknown {
  return expect.objectContaining({
    path,
    reason: expect.stringMatching(reason),
  });
}

/** Every object and array in a value, itself included. */
function objectsIn(root: unknown): object[] {
  const found: object[] = [];
  const pending = [root];
  for (const value of pending) {
    if (typeof value !== "object" || value === null) continue;
    found.push(value);
    pending.push(...Object.values(value));
  }
  return found;
}

function nestedArrays(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}

function nestedObjects(levels: number): unknown {
  let value: unknown = {};
  for (let level = 1; level < levels; level += 1) value = { value };
  return value;
}

function levelsOf(root: unknown): number {
  return objectsIn(root).length;
}

function atStackDepth<T>(frames: number, run: () => T): T {
  return frames === 0 ? run() : atStackDepth(frames - 1, run);
}
