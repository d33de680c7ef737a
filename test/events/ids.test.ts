import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventInvalidError } from "../../src/errors.ts";
import {
  AppendId,
  MAX_SESSION_ID_BYTES,
  SessionId,
} from "../../src/events/ids.ts";
import { runs } from "../support/property-runs.ts";

describe("SessionId", () => {
  it.each([
    ["a UUID", "0b4b1a3e-6a43-4b7b-9d3d-3b9b8d1a2c3d"],
    ["one character", "a"],
    ["path characters and spaces", "../a b/\\:*?\n"],
    ["emoji of several code points", "👩‍👩‍👧"],
    ["an inherited name", "__proto__"],
    ["1,024 characters of ASCII", "x".repeat(1_024)],
    ["512 characters of two bytes", "é".repeat(512)],
    ["256 characters of four bytes", "😀".repeat(256)],
  ])("accepts %s as it is", (_what, value) => {
    expect(SessionId(value)).toBe(value);
  });

  it("keeps ids apart that differ in Unicode normalisation only", () => {
    expect(SessionId("\u00e9")).not.toBe(SessionId("e\u0301"));
  });

  it.each([
    ["empty", "", /non-empty/],
    ["with NUL", "a\0b", /NUL/],
    ["with a lone surrogate", "a\ud800", /well-formed/],
    ["of 1,025 characters of ASCII", "x".repeat(1_025), /1024 bytes/],
    ["of 513 characters of two bytes", "é".repeat(513), /1024 bytes/],
  ])("refuses an id that is %s", (_what, value, reason) => {
    expect(() => SessionId(value)).toThrow(reason);
    expect(() => SessionId(value)).toThrow(
      invalid({ rule: "session-id", path: "session-id" }),
    );
  });

  it("accepts exactly the ids that Postgres text and a B-tree index hold", () => {
    const id = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.string({ unit: "grapheme", minLength: 300, maxLength: 600 }),
    );
    fc.assert(
      fc.property(id, (value) => {
        const bytes = Buffer.from(value);
        const isHeld =
          bytes.toString() === value &&
          !bytes.includes(0) &&
          bytes.length > 0 &&
          bytes.length <= MAX_SESSION_ID_BYTES;

        expect(accepts(() => SessionId(value))).toBe(isHeld);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("AppendId", () => {
  it("makes a new UUID when none is given", () => {
    const id = AppendId();

    expect(AppendId(id)).toBe(id);
    expect(AppendId()).not.toBe(id);
  });

  it("is the same for a UUID in upper and in lower case", () => {
    const upper = "0B4B1A3E-6A43-4B7B-9D3D-3B9B8D1A2C3D";

    expect(AppendId(upper)).toBe(upper.toLowerCase());
  });

  it("accepts a UUID of any version", () => {
    const nil = "00000000-0000-0000-0000-000000000000";

    expect(AppendId(nil)).toBe(nil);
  });

  it.each([
    "",
    "1",
    "0b4b1a3e6a434b7b9d3d3b9b8d1a2c3d",
    "{0b4b1a3e-6a43-4b7b-9d3d-3b9b8d1a2c3d}",
    " 0b4b1a3e-6a43-4b7b-9d3d-3b9b8d1a2c3d",
    "0b4b1a3e-6a43-4b7b-9d3d-3b9b8d1a2c3d\n",
    "0b4b1a3e-6a43-4b7b-9d3d-3b9b8d1a2c3g",
  ])("refuses %j", (value) => {
    expect(() => AppendId(value)).toThrow(
      invalid({ rule: "append-id", path: "append-id" }),
    );
  });
});

/** Matches an error about the call itself, not about an event. */
function invalid(facts: { rule: string; path: string }): unknown {
  return expect.objectContaining({
    ...facts,
    code: "EVENT_INVALID",
    retryable: false,
    index: null,
    seq: null,
    type: null,
  });
}

function accepts(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (error instanceof EventInvalidError) return false;
    throw error;
  }
}
