import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/events/json.ts";
import { readTitle } from "../../src/events/title.ts";

describe("readTitle", () => {
  it.each(["fallback", "user", "provider", "a kind of a plugin"])(
    "reads a title from the source %s",
    (kind) => {
      const data = { title: "Fix it", messageSeqs: [2], source: { kind } };

      expect(readTitle(data)).toEqual({ title: "Fix it", source: kind });
    },
  );

  it("makes both texts storable (B001, B064)", () => {
    const data = { title: "a\0b\ud800", source: { kind: "user\0" } };

    expect(readTitle(data)).toEqual({
      title: "a\uFFFDb\uFFFD",
      source: "user\uFFFD",
    });
  });

  it.each<[what: string, data: JsonValue]>([
    ["null", null],
    ["a string", "title"],
    ["no title", { source: { kind: "user" } }],
    ["a title that is no string", { title: 5, source: { kind: "user" } }],
    ["no source", { title: "t" }],
    ["a source that is no object", { title: "t", source: "user" }],
    ["a source without kind", { title: "t", source: {} }],
  ])("is null for %s", (_what, data) => {
    expect(readTitle(data)).toBeNull();
  });
});
