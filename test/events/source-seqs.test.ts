import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodeSourceSeqs,
  encodeSourceSeqs,
} from "../../src/events/source-seqs.ts";
import { runs } from "../support/property-runs.ts";

const MAX = Number.MAX_SAFE_INTEGER;

/** Distinct seqs in any order, with many neighbours. */
const anySeqs = fc.oneof(
  fc.uniqueArray(fc.nat({ max: 30 })),
  fc.uniqueArray(fc.maxSafeNat()),
  fc.uniqueArray(fc.integer({ min: MAX - 20, max: MAX })),
);

describe("provenance lists as text", () => {
  it("come back as they were, in their own order", () => {
    fc.assert(
      fc.property(anySeqs, (seqs) => {
        expect(decodeSourceSeqs(encodeSourceSeqs(seqs))).toEqual(seqs);
      }),
      { numRuns: runs(500) },
    );
  });

  it("differ for different lists", () => {
    fc.assert(
      fc.property(anySeqs, anySeqs, (a, b) => {
        const isSameText = encodeSourceSeqs(a) === encodeSourceSeqs(b);

        expect(isSameText).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: runs(300) },
    );
  });

  it("stand on one line of digits, commas, hyphens and braces", () => {
    fc.assert(
      fc.property(anySeqs, (seqs) => {
        expect(encodeSourceSeqs(seqs)).toMatch(
          /^\{(\d+(-\d+)?(,\d+(-\d+)?)*)?\}$/,
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it.each<[seqs: number[], text: string]>([
    [[], "{}"],
    [[0], "{0}"],
    [[4, 5], "{4-5}"],
    [[4, 6], "{4,6}"],
    [[5, 4, 3], "{5,4,3}"],
    [[19, 20, 4], "{19-20,4}"],
    [[7, 1, 2, 3, 0], "{7,1-3,0}"],
    [[MAX - 1, MAX], `{${MAX - 1}-${MAX}}`],
  ])("write %j as %s", (seqs, text) => {
    expect(encodeSourceSeqs(seqs)).toBe(text);
    expect(decodeSourceSeqs(text)).toEqual(seqs);
  });

  it("tell an empty list from none, which is the empty text", () => {
    expect(encodeSourceSeqs([])).not.toBe("");
  });

  it("write tens of thousands of neighbours as one run", () => {
    const seqs = Array.from({ length: 65_000 }, (_, at) => at + 4);

    expect(encodeSourceSeqs(seqs)).toBe("{4-65003}");
    expect(decodeSourceSeqs("{4-65003}")).toEqual(seqs);
  });

  it("hold 300,000 seqs that do not follow one another", () => {
    const seqs = Array.from({ length: 300_000 }, (_, at) => at * 2);

    expect(decodeSourceSeqs(encodeSourceSeqs(seqs))).toEqual(seqs);
  });
});
