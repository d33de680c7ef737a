import { describe, expect, it } from "vitest";
import { isDelta, member } from "../../src/events/event.ts";
import type { JsonValue } from "../../src/events/json.ts";

describe("isDelta", () => {
  it.each(["text-delta", "reasoning-delta", "tool-call-delta"])(
    "is true for a chunk of type %s",
    (type) => {
      expect(isDelta(chunk({ type, index: 0 }))).toBe(true);
    },
  );

  it.each(["block-start", "block-end", "usage", "finish", "x/new", "toString"])(
    "is false for a chunk of type %s, which is a fact",
    (type) => {
      expect(isDelta(chunk({ type, index: 0 }))).toBe(false);
    },
  );

  it.each<[JsonValue]>([[null], ["text-delta"], [["text-delta"]], [{}]])(
    "is false for the chunk %j",
    (value) => {
      expect(isDelta(chunk(value))).toBe(false);
    },
  );

  it.each<[JsonValue]>([[null], [5], [[]], [{}]])(
    "is false for a chunk event with the data %j",
    (data) => {
      expect(isDelta({ type: "assistant/chunk", data })).toBe(false);
    },
  );

  it("is false for the same data under another type", () => {
    const { data } = chunk({ type: "text-delta", index: 0, text: "" });

    expect(isDelta({ type: "x/chunk", data })).toBe(false);
  });
});

describe("member", () => {
  it("gives an own property", () => {
    expect(member({ a: null }, "a")).toBeNull();
  });

  it.each(["toString", "constructor", "__proto__", "hasOwnProperty"])(
    "gives nothing for the inherited name %s",
    (key) => {
      expect(member({}, key)).toBeUndefined();
    },
  );

  it("gives an own property of the name __proto__", () => {
    expect(member(JSON.parse('{"__proto__":1}'), "__proto__")).toBe(1);
  });

  it.each<[JsonValue | undefined, string]>([
    [undefined, "a"],
    [null, "a"],
    ["text", "length"],
    [[1, 2], "length"],
    [[1, 2], "0"],
  ])("gives nothing for %j, which is no object", (value, key) => {
    expect(member(value, key)).toBeUndefined();
  });
});

function chunk(value: JsonValue): { type: string; data: JsonValue } {
  return { type: "assistant/chunk", data: { turn: 1, step: 1, chunk: value } };
}
