/** Measures contenders in turns, A B A B, so that a machine that slows down slows all of them. */
import type { Figure } from "./result.ts";

/** Something that can be measured again and again. */
export interface Subject {
  readonly name: string;
  /** Measures once and returns the value. */
  readonly measure: (round: number) => Promise<number>;
}

export interface Comparison {
  readonly unit: string;
  readonly better: "higher" | "lower";
  /** Name of the subject that the ratios are against. */
  readonly baseline: string;
  /** Ratio to be reached, by subject. */
  readonly targets: Readonly<Record<string, number>>;
}

/** Measures every subject once a round; the first one changes from round to round. */
export async function measureInTurns(
  subjects: readonly Subject[],
  rounds: number,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const values = new Map<string, number[]>(
    subjects.map(({ name }) => [name, []]),
  );
  for (let round = 0; round < rounds; round += 1) {
    const first = round % subjects.length;
    const order = [...subjects.slice(first), ...subjects.slice(0, first)];
    for (const { name, measure } of order)
      values.get(name)?.push(await measure(round));
  }
  return values;
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
