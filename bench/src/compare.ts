/** Regressions: ratios of this run against those of a saved one. Times of two runs are never compared. */
import type { ScenarioResult } from "./result.ts";
import { outcomeOf, short } from "./table.ts";

/** Ratios of one machine repeat to about 15 %. */
const WORSE = 0.8;

/** A line for each ratio that is more than a fifth worse than it was. */
export function compareResults(
  earlier: readonly ScenarioResult[],
  now: readonly ScenarioResult[],
): readonly string[] {
  return now.flatMap(({ scenario, figures }) => {
    const before = earlier.find((result) => result.scenario === scenario);
    return figures.flatMap((figure) => {
      const was = before?.figures.find(({ name }) => name === figure.name);
      if (was === undefined || figure.baseline === null) return [];
      const [old, current] = [outcomeOf(was), outcomeOf(figure)];
      const change = figure.better === "higher" ? current / old : old / current;
      return change >= WORSE
        ? []
        : [
            `${scenario}, ${figure.name}: ratio ${short(current)}, was ${short(old)}`,
          ];
    });
  });
}
