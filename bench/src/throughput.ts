/** Measures how many events a second contenders append under one load, and what an event costs them. */
import { batchesOf } from "../generator/batches.ts";
import type { Contender, ContenderKind } from "./contenders/contender.ts";
import { openControl } from "./control.ts";
import {
  costsPerEvent,
  middleCosts,
  readCounters,
  type WorkCosts,
} from "./costs.ts";
import { drive, type Load } from "./drive.ts";
import { exactCosts } from "./exact-costs.ts";
import type { Figure } from "./result.ts";
import { compared, measureInTurns, type Comparison } from "./rounds.ts";
import type { Bench } from "./scenario.ts";
import { mean, percentile } from "./statistics.ts";

const WARM_UP_MS = 150;

/** Of a round. */
const SLICES = 4;

/** A control that moves by more than this between rounds makes the figures doubtful. */
const CONTROL_SPREAD = 1.25;

/** A contender with a database of its own, ready to be measured. */
interface Runner {
  readonly kind: ContenderKind;
  readonly databaseUrl: string;
  readonly contender: Contender;
  readonly latencies: number[];
  readonly costs: WorkCosts[];
}

export async function measureThroughput(
  bench: Bench,
  kinds: readonly ContenderKind[],
  load: Load,
  comparison: Comparison,
): Promise<readonly Figure[]> {
  const runners: Runner[] = [];
  for (const kind of kinds) runners.push(await openRunner(bench, kind, load));
  const values = await measureRunners(bench, runners, load);
  const costs = new Map<string, Figure["costs"]>();
  for (const runner of runners)
    costs.set(runner.kind.name, await costsOf(bench, runner, load));
  return compared(values, costs, comparison);
}

/** Closes the contenders at the end: what is counted afterwards has connections of its own. */
async function measureRunners(
  bench: Bench,
  runners: readonly Runner[],
  load: Load,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const control = await openControl(await bench.server.createDatabase());
  const controls: number[] = [];
  const subjects = runners.map((runner, at) => ({
    name: runner.kind.name,
    async measure() {
      if (at === 0) controls.push(await control.measure(bench.windowMs / 10));
      return measureOnce(bench, runner, load);
    },
  }));
  try {
    return await measureInTurns(subjects, {
      rounds: bench.rounds,
      slices: SLICES,
    });
  } finally {
    warnOfSpread(bench, controls);
    await control.close();
    for (const { contender } of runners) await contender.close();
  }
}

async function openRunner(
  bench: Bench,
  kind: ContenderKind,
  load: Load,
): Promise<Runner> {
  const databaseUrl = await bench.server.createDatabase();
  await kind.install(databaseUrl);
  const contender = await kind.connect({ databaseUrl, poolSize: load.writers });
  await drive(contender, load, WARM_UP_MS);
  return { kind, databaseUrl, contender, latencies: [], costs: [] };
}

async function measureOnce(
  bench: Bench,
  runner: Runner,
  load: Load,
): Promise<number> {
  const before = await readCounters(bench.server);
  const { events, seconds, latencies } = await drive(
    runner.contender,
    load,
    bench.windowMs / SLICES,
  );
  const after = await readCounters(bench.server);
  runner.latencies.push(...latencies);
  runner.costs.push(costsPerEvent(before, after, events));
  return events / seconds;
}

async function costsOf(
  bench: Bench,
  runner: Runner,
  load: Load,
): Promise<Figure["costs"]> {
  const { kind, databaseUrl, latencies, costs } = runner;
  return {
    ...(await exactCosts(bench.server, kind, databaseUrl, load)),
    ...middleCosts(costs),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function warnOfSpread(bench: Bench, controls: readonly number[]): void {
  const rounds = [...batchesOf(controls, SLICES)].map(mean);
  const [least, most] = [Math.min(...rounds), Math.max(...rounds)];
  bench.say(`control: ${Math.round(least)} to ${Math.round(most)} commits/s`);
  if (most > least * CONTROL_SPREAD)
    bench.warn(
      `The control moved from ${Math.round(least)} to ${Math.round(most)} commits/s between rounds.`,
    );
}
