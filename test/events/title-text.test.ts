import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cleanTitle,
  displayTitle,
  fallbackTitle,
} from "../../src/events/title-text.ts";

const family = "👩‍👩‍👧";
const flag = "🇨🇳";

describe("cleanTitle", () => {
  it.each([
    ["an OSC up to BEL", "a\u001B]0;name\u0007b", "ab"],
    ["an OSC up to ST", "a\u001B]0;name\u001B\\b", "ab"],
    ["an OSC that does not end", "a\u009D0;name b", "a"],
    ["colours", "\u001B[1;31mred\u001B[0m \u009B2Jx", "red x"],
    ["other escapes", "a\u001BMb", "ab"],
    ["controls", "a\0\u0008b\u007F\u0085c", "abc"],
    ["marks that nobody sees", "\uFEFFa\u200Bb\u202Ec\u2066", "abc"],
    ["runs of white space", " a\t\r\n  b ", "a b"],
    ["a lone surrogate", "a\uD83Db", "a\uFFFDb"],
  ])("takes out %s", (_what, text, cleaned) => {
    expect(cleanTitle(text)).toBe(cleaned);
  });

  it("keeps joiners", () => {
    expect(cleanTitle(`${family} \u200C`)).toBe(`${family} \u200C`);
  });
});

describe("displayTitle", () => {
  it.each([
    ["an emoji", `${"a".repeat(79)}😀x`, "a".repeat(79)],
    ["a family", `${"a".repeat(70)}${family}`, "a".repeat(70)],
    ["a flag", `${"a".repeat(75)}${flag}`, "a".repeat(75)],
    ["a skin tone", `${"a".repeat(74)}👍🏽`, "a".repeat(74)],
    ["an accent", `${"a".repeat(79)}e\u0301`, "a".repeat(79)],
  ])("does not cut %s in two (B063)", (_what, title, shown) => {
    expect(displayTitle(title)).toBe(shown);
  });

  it("leaves a title that fits", () => {
    expect(displayTitle(`${"a".repeat(76)}😀`)).toBe(`${"a".repeat(76)}😀`);
  });

  it("is null when nothing is left to see", () => {
    expect(displayTitle("\u200B \u001B[0m")).toBeNull();
  });

  it("fits, is well-formed, whole characters of the clean title, and comes to itself again (B063, B064)", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (title) => {
        for (const [make, bytes] of [
          [displayTitle, 80],
          [fallbackTitle, 40],
        ] as const) {
          const shown = make(title) ?? "";
          expect(shown.isWellFormed()).toBe(true);
          expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(bytes);
          expect(make(shown) ?? "").toBe(shown);
        }
      }),
    );
  });
});

describe("fallbackTitle", () => {
  it("takes the first five words", () => {
    expect(fallbackTitle("one two  three\nfour five six")).toBe(
      "one two three four five",
    );
  });

  it.each([
    [
      "a caveat",
      "<local-command-caveat>Caveat: below</local-command-caveat> Fix it",
    ],
    ["a reminder", "<system-reminder>Think\n</system-reminder>\nFix it"],
    ["a skill", '<skill name="pdf" path="x">how to</skill>Fix it'],
    [
      "a command's name",
      "<command-name>/go</command-name><command-args>Fix it</command-args>",
    ],
    ["what is never closed", "Fix it <system-reminder>and so on"],
  ])("leaves out %s (B066)", (_what, prompt) => {
    expect(fallbackTitle(prompt)).toBe("Fix it");
  });

  it("keeps elements of other names", () => {
    expect(fallbackTitle("<skills> <b>x</b>")).toBe("<skills> <b>x</b>");
  });

  it("is null for a wrapper alone", () => {
    expect(fallbackTitle("<system-reminder>x</system-reminder>")).toBeNull();
  });

  it("looks at a long prompt once", () => {
    const prompt = "<skill x><skill ".repeat(200_000);

    expect(fallbackTitle(prompt)).toBeNull();
  });
});
