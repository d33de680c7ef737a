import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/events/json.ts";
import {
  storableText,
  storableTextOrNull,
  textOfContent,
} from "../../src/events/text.ts";
import { runs } from "../support/property-runs.ts";
import { anyJson, anyText } from "./any-json.ts";

describe("storableText", () => {
  it.each([
    ["NUL (B001)", "a\0b\0", "a\uFFFDb\uFFFD"],
    ["a lone high surrogate (B006)", "현\ud99c 보유", "현\uFFFD 보유"],
    ["a lone low surrogate", "\udc00x", "\uFFFDx"],
    ["surrogates in the wrong order", "\udc00\ud800", "\uFFFD\uFFFD"],
  ])("replaces %s", (_what, text, storable) => {
    expect(storableText(text)).toBe(storable);
  });

  it.each([
    ["emoji of several code points", "👩‍👩‍👧 🇨🇳"],
    ["the six characters that look like an escaped NUL (B001)", "\\u0000"],
    ["other control characters", "\u0001\t\r\n\u001b[31m\u202e"],
    ["a byte order mark", "\ufeffx"],
    ["nothing at all", ""],
  ])("keeps %s", (_what, text) => {
    expect(storableText(text)).toBe(text);
  });

  it("gives text that Postgres holds, of the same length, and changes it no further", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const storable = storableText(text);

        expect(storable.isWellFormed() && !storable.includes("\0")).toBe(true);
        expect(storable).toHaveLength(text.length);
        expect(storableText(storable)).toBe(storable);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("storableTextOrNull", () => {
  it("makes a string storable", () => {
    expect(storableTextOrNull("a\0")).toBe("a\uFFFD");
  });

  it.each<[JsonValue | undefined]>([[undefined], [null], [1], [["a"]], [{}]])(
    "gives null for %j",
    (value) => {
      expect(storableTextOrNull(value)).toBeNull();
    },
  );
});

describe("textOfContent", () => {
  it("puts text blocks on lines of their own", () => {
    const content = [textBlock("one"), textBlock("two\nthree")];

    expect(textOfContent(content)).toBe("one\ntwo\nthree");
  });

  it("reads tool results, also one inside another", () => {
    const inner = { type: "tool-result", content: [textBlock("inner")] };
    const outer = { type: "tool-result", content: [textBlock("outer"), inner] };

    expect(textOfContent([outer, textBlock("last")])).toBe(
      "outer\ninner\nlast",
    );
  });

  it.each<[what: string, block: JsonValue]>([
    ["reasoning", { type: "reasoning", text: "hidden" }],
    ["an image", { type: "image", attachment: { attachmentId: "a" } }],
    ["a tool call", { type: "tool-call", id: "c", name: "n", arguments: "{}" }],
    ["a type it does not know", { type: "x/plugin", text: "hidden" }],
    ["no type", { text: "hidden" }],
    ["a text that is no string", { type: "text", text: 5 }],
    ["a tool result without content", { type: "tool-result" }],
    ["an inherited name for its type", { type: "toString", text: "hidden" }],
  ])("passes over a block with %s", (_what, block) => {
    expect(textOfContent([block, textBlock("seen")])).toBe("seen");
  });

  it.each<[JsonValue | undefined]>([
    [undefined],
    [null],
    ["text"],
    [{ type: "text", text: "not in a list" }],
    [[]],
    [[null, "text", [], 1]],
  ])("is empty for %j (B040)", (content) => {
    expect(textOfContent(content)).toBe("");
  });

  it("is empty for an empty text (B040)", () => {
    expect(textOfContent([textBlock("")])).toBe("");
  });

  it("replaces NUL and lone surrogates (B001, B006)", () => {
    expect(textOfContent([textBlock("a\0"), textBlock("\ud800")])).toBe(
      "a\uFFFD\n\uFFFD",
    );
  });

  it("reads tool results as deep as JSON may be nested (B012)", () => {
    let content: JsonValue = [textBlock("bottom")];
    for (let level = 0; level < 2_499; level += 1)
      content = [{ type: "tool-result", content }];

    expect(textOfContent(content)).toBe("bottom");
  });

  it("gives storable text for any JSON", () => {
    fc.assert(
      fc.property(fc.array(anyJson), anyText, (blocks, words) => {
        const found = textOfContent([...blocks, textBlock(words)]);

        expect(found.endsWith(storableText(words))).toBe(true);
        expect(found.isWellFormed() && !found.includes("\0")).toBe(true);
      }),
      { numRuns: runs(200) },
    );
  });
});

function textBlock(words: string): JsonValue {
  return { type: "text", text: words };
}
