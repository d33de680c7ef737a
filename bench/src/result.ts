/** What a scenario has measured: figures of each contender, round by round, and what bounds them. */
import { z } from "zod";

const figure = z.object({
  /** What was measured, of whom. */
  name: z.string(),
  unit: z.string(),
  /** One value a round. */
  rounds: z.array(z.number()),
  /** Value over the baseline's of the same round; below 1 where less is better and less was needed. */
  ratios: z.array(z.number()),
  /** Whom the ratios are against; null for a figure that stands by itself. */
  baseline: z.string().nullable(),
  better: z.enum(["higher", "lower"]),
  /** Ratio, or value where there is no baseline, that is to be reached; null where none was set. */
  target: z.number().nullable(),
  /** What an event cost: round trips, statements, commits, WAL, fsyncs, CPU. */
  costs: z.record(z.string(), z.number()),
});

const scenarioResult = z.object({
  scenario: z.string(),
  title: z.string(),
  /** Of the run: machine, server and its settings, and how long was measured. */
  conditions: z.record(z.string(), z.string()),
  figures: z.array(figure),
  /** Anything that casts doubt on the figures. */
  warnings: z.array(z.string()),
});

export type Figure = z.infer<typeof figure>;
export type ScenarioResult = z.infer<typeof scenarioResult>;

/** Reads results that an earlier run has saved. */
export function parseResults(text: string): readonly ScenarioResult[] {
  return z.array(scenarioResult).parse(JSON.parse(text));
}
