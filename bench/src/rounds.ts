/** Measures contenders in turns, A B A B, so that a machine that slows down slows all of them. */
import { batchesOf } from "../generator/batches.ts";
import type { Figure } from "./result.ts";
import { mean } from "./statistics.ts";

/** Something that can be measured again and again. */
export interface Subject {
  readonly name: string;
  /** Measures once and returns the value. */
  readonly measure: () => Promise<number>;
}

export interface Comparison {
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** Name of the subject that the ratios are against. */
  readonly baseline: string;
  /** Ratio to be reached, by subject. */
  readonly targets: Readonly<Record<string, number>>;
}

/**
 * Measures every subject in each round, the round cut into slices: A B C, B C A, ... A value is the mean of its slices,
 * so that a machine that is busy for half a second is busy for all.
 */
export async function measureInTurns(
  subjects: readonly Subject[],
  { rounds, slices = 1 }: { readonly rounds: number; readonly slices?: number },
): Promise<ReadonlyMap<string, readonly number[]>> {
  const values = new Map<string, number[]>(
    subjects.map(({ name }) => [name, []]),
  );
  for (let turn = 0; turn < rounds * slices; turn += 1) {
    const first = turn % subjects.length;
    const order = [...subjects.slice(first), ...subjects.slice(0, first)];
    for (const { name, measure } of order)
      values.get(name)?.push(await measure());
  }
  return new Map(
    [...values].map(([name, all]) => [
      name,
      [...batchesOf(all, slices)].map(mean),
    ]),
  );
}

/** Figures with the ratios of each round. */
export function compared(
  values: ReadonlyMap<string, readonly number[]>,
  costs: ReadonlyMap<string, Figure["costs"]>,
  comparison: Comparison,
): Figure[] {
  const { unit, better, baseline, targets } = comparison;
  const base = values.get(baseline) ?? [];
  return [...values].map(([name, rounds]) => ({
    name,
    unit,
    rounds: [...rounds],
    ratios: rounds.map((value, at) => value / (base[at] ?? Number.NaN)),
    baseline,
    better,
    target: targets[name] ?? null,
    costs: costs.get(name) ?? {},
  }));
}
