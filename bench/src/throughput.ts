/** Measures how many events a second contenders append under one load, and what an event costs them. */
import type { Contender, ContenderKind } from "./contenders/contender.ts";
import { fsyncsPerSecond, openControl } from "./control.ts";
import {
  costsPerEvent,
  middleCosts,
  readCounters,
  type WorkCosts,
} from "./costs.ts";
import { drive, type Load } from "./drive.ts";
import { exactCosts } from "./exact-costs.ts";
import type { Figure } from "./result.ts";
import {
  compared,
  measureInTurns,
  type Comparison,
  type Subject,
} from "./rounds.ts";
import type { Bench } from "./scenario.ts";
import { percentile } from "./statistics.ts";

const WARM_UP_MS = 150;

/** Of a round. */
const SLICES = 4;

/** Named as in the report; of as many events as an append has. */
const CONTROL = "one row a commit, one connection";
const FSYNC = "fsync of 8 kB, no database";

/** A control that moves by more than this between rounds makes the figures doubtful. */
const CONTROL_SPREAD = 1.25;

/** A contender with a database of its own, ready to be measured. */
interface Runner {
  readonly kind: ContenderKind;
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

/**
 * Measures the contenders, and beside them what any store must share the machine with: fsyncs without a database, and
 * commits of one row without a check. Closes the contenders at the end: what is counted afterwards has connections of
 * its own.
 */
async function measureRunners(
  bench: Bench,
  runners: readonly Runner[],
  load: Load,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const control = await openControl(await bench.server.createDatabase());
  const controlMs = bench.windowMs / SLICES / 4;
  const { dataDirectory } = bench.server;
  const subjects: readonly Subject[] = [
    ...runners.map((runner) => ({
      name: runner.kind.name,
      measure: () => measureOnce(bench, runner, load),
    })),
    {
      name: CONTROL,
      measure: async () =>
        (await control.measure(controlMs)) * load.eventsPerAppend,
    },
    ...(dataDirectory === null
      ? []
      : [
          {
            name: FSYNC,
            measure: async () =>
              fsyncsPerSecond(dataDirectory, controlMs) * load.eventsPerAppend,
          },
        ]),
  ];
  try {
    const { rounds } = bench;
    const values = await measureInTurns(subjects, { rounds, slices: SLICES });
    warnOfSpread(bench, values.get(CONTROL) ?? []);
    return values;
  } finally {
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
  return { kind, contender, latencies: [], costs: [] };
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
  const { kind, latencies, costs } = runner;
  return {
    ...(await exactCosts(bench.server, kind, load)),
    ...middleCosts(costs),
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

function warnOfSpread(bench: Bench, controls: readonly number[]): void {
  const spread = Math.max(...controls) / Math.min(...controls);
  if (spread > CONTROL_SPREAD)
    bench.warn(
      `the machine was not at rest: the same commit of one row was ${spread.toFixed(1)} times as fast in one round as in another.`,
    );
}
