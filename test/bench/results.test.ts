import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareResults } from "../../bench/src/compare.ts";
import { formatReport } from "../../bench/src/report.ts";
import {
  parseResults,
  type Figure,
  type ScenarioResult,
} from "../../bench/src/result.ts";
import { compared, measureInTurns } from "../../bench/src/rounds.ts";
import { median, percentile } from "../../bench/src/statistics.ts";
import { runs } from "../support/property-runs.ts";

const values = fc.array(fc.double({ noNaN: true, min: -1e6, max: 1e6 }), {
  minLength: 1,
});

describe("statistics", () => {
  it("a median has as many values above it as below", () => {
    fc.assert(
      fc.property(values, (list) => {
        const middle = median(list);

        const above = list.filter((value) => value > middle).length;
        const below = list.filter((value) => value < middle).length;
        expect(above).toBeLessThanOrEqual(list.length / 2);
        expect(below).toBeLessThanOrEqual(list.length / 2);
      }),
      { numRuns: runs(100) },
    );
  });

  it("a percentile is a value, and the share of the values does not exceed it", () => {
    fc.assert(
      fc.property(
        values,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (list, share) => {
          const found = percentile(list, share);

          const upTo = list.filter((value) => value <= found).length;
          expect(list).toContain(found);
          expect(upTo).toBeGreaterThanOrEqual(share * list.length - 1e-6);
        },
      ),
      { numRuns: runs(100) },
    );
  });
});

describe("rounds", () => {
  it("take the subjects in turns, another one first each time, and a value is the mean of its slices", async () => {
    const order: string[] = [];
    const subjects = ["a", "b", "c"].map((name) => ({
      name,
      measure: () => Promise.resolve(order.push(name)),
    }));

    const measured = await measureInTurns(subjects, { rounds: 2, slices: 2 });

    expect(order.join("")).toBe("abcbcacababc");
    expect(measured.get("a")).toEqual([(1 + 6) / 2, (8 + 10) / 2]);
  });

  it("give ratios within a round", () => {
    const measured = new Map([
      ["base", [100, 10]],
      ["other", [200, 30]],
    ]);

    const figures = compared(measured, new Map(), comparison);

    expect(figures.map(({ ratios }) => ratios)).toEqual([
      [1, 1],
      [2, 3],
    ]);
  });
});

const comparison = {
  unit: "events/s",
  better: "higher",
  baseline: "base",
  targets: { other: 2 },
} as const;

describe("a comparison of two runs", () => {
  it.each([
    ["higher", 4, 3.3, 0],
    ["higher", 4, 3, 1],
    ["lower", 1, 1.2, 0],
    ["lower", 1, 1.3, 1],
  ] as const)(
    "where %s is better, names a ratio that went from %d to %d: %i",
    (better, before, after, named) => {
      const earlier = [result([figure({ better, ratios: [before] })])];
      const now = [result([figure({ better, ratios: [after] })])];

      expect(compareResults(earlier, now)).toHaveLength(named);
    },
  );

  it("compares no times and nothing that the earlier run didn't have", () => {
    const alone = figure({ baseline: null, rounds: [1], ratios: [] });
    const slower = { ...alone, rounds: [0.1] };

    expect(compareResults([result([alone])], [result([slower])])).toEqual([]);
    expect(compareResults([], [result([figure({})])])).toEqual([]);
  });
});

describe("the report", () => {
  it("has a row a figure: median, ratios, whether the target is met, and costs that were taken", () => {
    const results = [
      result([
        figure({ target: 2, costs: { walBytes: 1234.5 } }),
        figure({ name: "slow", target: 2, ratios: [1, 1.5] }),
      ]),
    ];

    const report = formatReport(results);

    expect(report).toContain(
      "| turnlog | 200 events/s | 3 (2 to 4) | ≥ 2 met | 1,235 |",
    );
    expect(report).toContain(
      "| slow | 200 events/s | 1.25 (1 to 1.5) | ≥ 2 missed |  |",
    );
    expect(report).toContain("**Doubtful:** it was busy");
  });

  it("can be made again from saved results", () => {
    const results = [result([figure({}), figure({ baseline: null })])];

    expect(parseResults(JSON.stringify(results))).toEqual(results);
  });
});

function figure(given: Partial<Figure>): Figure {
  return {
    name: "turnlog",
    unit: "events/s",
    rounds: [100, 300],
    ratios: [2, 4],
    baseline: "base",
    better: "higher",
    target: null,
    costs: {},
    ...given,
  };
}

function result(figures: Figure[]): ScenarioResult {
  return {
    scenario: "append",
    title: "Append",
    conditions: { node: "v20" },
    figures,
    warnings: ["it was busy"],
  };
}
