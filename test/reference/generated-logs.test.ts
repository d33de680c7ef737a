import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { legalLog } from "../support/generated-logs.ts";
import { FEATURE_NAMES, featuresOf } from "../support/reference-features.ts";
import { expandRecord, packEvents } from "../support/reference-rows.ts";
import {
  referenceContext,
  referenceExpand,
  referenceFold,
  referenceInvariants,
  referencePack,
  unknownRequiredTypes,
} from "../support/reference.ts";

const SEED = 20_261_101;

describe("generated logs", () => {
  it("are opened by the reference, which finds nothing wrong with them", () => {
    fc.assert(
      fc.property(legalLog(), ({ header, events }) => {
        referenceFold(header, events);
        referenceContext(events);
        referenceInvariants(header, events);
        expect(unknownRequiredTypes(events)).toEqual([]);
      }),
      { numRuns: 300, seed: SEED },
    );
  });

  it("are opened with times at both ends of the safe integers too", () => {
    fc.assert(
      fc.property(legalLog({ extremeTimes: true }), ({ header, events }) => {
        expect(() => {
          referenceFold(header, events);
          referenceInvariants(header, events);
        }).not.toThrow();
      }),
      { numRuns: 100, seed: SEED },
    );
  });

  it("survive the way through JSON text", () => {
    fc.assert(
      fc.property(legalLog(), ({ events }) => {
        const text = JSON.stringify(events);
        expect(JSON.stringify(JSON.parse(text))).toBe(text);
      }),
      { numRuns: 100, seed: SEED },
    );
  });

  it("pack and expand as the reference does it, and come back unchanged", () => {
    fc.assert(
      fc.property(legalLog({ extremeTimes: true }), ({ events }) => {
        const records = packEvents(events);
        expect(JSON.stringify(records)).toBe(
          JSON.stringify(referencePack(events)),
        );
        const expanded = JSON.stringify(records.flatMap(expandRecord));
        expect(expanded).toBe(JSON.stringify(events));
        expect(JSON.stringify(records.flatMap(referenceExpand))).toBe(expanded);
      }),
      { numRuns: 300, seed: SEED },
    );
  });

  it.each(FEATURE_NAMES)("show %s in at least 3 of 300", (feature) => {
    expect(seen.get(feature) ?? 0).toBeGreaterThanOrEqual(3);
  });
});

const seen = new Map<string, number>();
for (const log of fc.sample(legalLog(), { numRuns: 300, seed: SEED }))
  for (const feature of featuresOf(log))
    seen.set(feature, (seen.get(feature) ?? 0) + 1);
