/** What appends and folding leave behind in the tables that are updated: HOT updates and dead rows, also under an old snapshot. */
import pg from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { turnlog } from "../contenders/turnlog.ts";
import { drive } from "../drive.ts";
import { thinnedLog } from "../payloads.ts";
import { startPipelineProcess } from "../pipeline-process.ts";
import type { Figure } from "../result.ts";
import type { Bench, Scenario } from "../scenario.ts";

const WRITERS = 16;
const TABLES = ["sessions", "outbox", "work", "checkpoints", "lease"];

/** Fillfactors of the tables that are updated in place, and whether somebody holds a snapshot all the while. */
const CASES = [
  { name: "as it is", change: "", old: false },
  { name: "as it is, old snapshot", change: "", old: true },
  { name: "all full", change: fillfactor(100), old: false },
  { name: "all full, old snapshot", change: fillfactor(100), old: true },
  { name: "all at 50", change: fillfactor(50), old: false },
  { name: "all at 50, old snapshot", change: fillfactor(50), old: true },
] as const;

export const upkeep: Scenario = {
  name: "upkeep",
  title: `HOT updates, dead rows and size under ${WRITERS} writers and a pipeline, with and without an old snapshot`,
  long: true,
  async run(bench) {
    const figures: Figure[] = [];
    for (const one of CASES) figures.push(...(await runCase(bench, one)));
    return figures;
  },
};

function fillfactor(percent: number): string {
  return ["sessions", "work", "checkpoints"]
    .map((name) => `alter table turnlog.${name} set (fillfactor = ${percent})`)
    .join(";");
}

async function runCase(
  bench: Bench,
  { name, change, old }: (typeof CASES)[number],
): Promise<readonly Figure[]> {
  const databaseUrl = await bench.server.createDatabase();
  await turnlog.install(databaseUrl);
  const client = new pg.Client(databaseUrl);
  const holder = new pg.Client(databaseUrl);
  await client.connect();
  await holder.connect();
  if (change !== "") await client.query(change);
  if (old)
    await holder.query(
      "begin isolation level repeatable read; select count(*) from turnlog.sessions",
    );
  const contender = await turnlog.connect({ databaseUrl, poolSize: WRITERS });
  const pipeline = startPipelineProcess(databaseUrl);
  const log = thinnedLog(1, 10_000);
  const load = { writers: WRITERS, eventsPerAppend: 1, log };
  const { events, seconds, latencies } = await drive(
    contender,
    load,
    bench.windowMs * bench.rounds,
  );
  await contender.close();
  await pipeline[Symbol.asyncDispose]();
  // Backends report what they did when they end, or within a second.
  await sleep(1_500);
  const { rows } = await client.query<TableStatistics>(STATISTICS, [TABLES]);
  await holder.end();
  await client.end();
  bench.say(
    `${name}: ${Math.round(events / seconds)} events/s, ${latencies.length} appends`,
  );
  return [
    figure(`${name}: appends`, "events/s", events / seconds, {}),
    ...rows.map((row) =>
      figure(`${name}: ${row.relname}`, "% HOT", hotShare(row), {
        updates: Number(row.updates),
        deadRows: Number(row.dead),
        vacuums: Number(row.vacuums),
        kilobytes: Number(row.bytes) / 1_024,
      }),
    ),
  ];
}

interface TableStatistics {
  readonly relname: string;
  readonly updates: string;
  readonly hot: string;
  readonly dead: string;
  readonly vacuums: string;
  readonly bytes: string;
}

const STATISTICS = `
  select relname, n_tup_upd as updates, n_tup_hot_upd as hot, n_dead_tup as dead, autovacuum_count as vacuums,
         pg_total_relation_size(relid) as bytes
  from pg_stat_user_tables
  where schemaname = 'turnlog' and relname = any($1)
  order by relname`;

function hotShare({ updates, hot }: TableStatistics): number {
  return Number(updates) === 0 ? 0 : (100 * Number(hot)) / Number(updates);
}

function figure(
  name: string,
  unit: string,
  value: number,
  costs: Figure["costs"],
): Figure {
  return {
    name,
    unit,
    rounds: [value],
    ratios: [],
    baseline: null,
    better: "higher",
    target: null,
    costs,
  };
}
