/** A log file is imported, every rule checked; against COPY of the rows that come of it, which checks and packs nothing. */
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import pg from "pg";
import { importFile } from "../../../src/io/import-file.ts";
import { createSessionStore } from "../../../src/session-store.ts";
import { logLines } from "../../generator/log-lines.ts";
import { generateSession } from "../../generator/session.ts";
import { turnlog } from "../contenders/turnlog.ts";
import {
  costsPerEvent,
  middleCosts,
  readCounters,
  type WorkCosts,
} from "../costs.ts";
import type { Figure } from "../result.ts";
import { compared } from "../rounds.ts";
import type { Bench, Scenario } from "../scenario.ts";

const EVENTS = 400_000;
const QUICK_EVENTS = 60_000;

/** What one round gives. */
interface Round {
  readonly imported: number;
  /** NaN where the server can't be asked to read a file. */
  readonly copied: number;
  readonly costs: WorkCosts;
}

export const importScenario: Scenario = {
  name: "import",
  title: "Import a file of 400,000 events, every rule checked",
  async run(bench) {
    const databaseUrl = await bench.server.createDatabase();
    await turnlog.install(databaseUrl);
    const rounds: Round[] = [];
    for (let round = 0; round < bench.rounds; round += 1)
      rounds.push(await measureRound(bench, databaseUrl, round));
    return figures(rounds);
  },
};

async function measureRound(
  bench: Bench,
  databaseUrl: string,
  round: number,
): Promise<Round> {
  const events = bench.quick ? QUICK_EVENTS : EVENTS;
  const session = generateSession({ seed: 100 + round, events });
  const file = join(tmpdir(), `turnlog-bench-${process.pid}.jsonl`);
  await pipeline(
    Readable.from(linesWithFeeds(logLines(session, { packed: false }))),
    createWriteStream(file),
  );
  await using store = await createSessionStore({ databaseUrl });
  const before = await readCounters(bench.server);
  const seconds = await timed(async () => {
    const { outcome } = await importFile(store, file);
    if (outcome !== "imported") throw new Error(`the import was ${outcome}`);
  });
  const after = await readCounters(bench.server);
  await rm(file);
  const imported = events / seconds;
  const copied =
    events / (await copySeconds(bench, databaseUrl, session.header.id));
  bench.say(`${Math.round(imported)} events/s, COPY ${Math.round(copied)}`);
  return { imported, copied, costs: costsPerEvent(before, after, events) };
}

function figures(rounds: readonly Round[]): Figure[] {
  const costs = middleCosts(rounds.map((round) => round.costs));
  const perCore = rounds.map((round) => 1e6 / round.costs.clientCpuUs);
  const values = new Map([
    ["COPY of the rows", rounds.map(({ copied }) => copied)],
    ["turnlog", rounds.map(({ imported }) => imported)],
  ]);
  return [
    ...compared(values, new Map([["turnlog", costs]]), {
      unit: "events/s",
      better: "higher",
      baseline: "COPY of the rows",
      targets: {},
    }),
    {
      name: "turnlog, for a second of one core",
      unit: "events",
      rounds: perCore,
      ratios: [],
      baseline: null,
      better: "higher",
      target: 100_000,
      costs: {},
    },
  ];
}

/** The server itself writes the rows out, and reads them into a table of the same indexes. */
async function copySeconds(
  bench: Bench,
  databaseUrl: string,
  sessionId: string,
): Promise<number> {
  if (bench.server.dataDirectory === null) return Number.NaN;
  const file = join(bench.server.dataDirectory, "bench.copy");
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query(
      `copy (select * from turnlog.events where session_id = '${sessionId}' order by seq) to '${file}'`,
    );
    await client.query("drop table if exists copied");
    await client.query(
      "create table copied (like turnlog.events including all)",
    );
    return await timed(() => client.query(`copy copied from '${file}'`));
  } finally {
    await client.end();
    await rm(file, { force: true });
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganAt = performance.now();
  await work();
  return (performance.now() - beganAt) / 1_000;
}

function* linesWithFeeds(lines: Iterable<string>): Generator<string> {
  for (const line of lines) yield `${line}\n`;
}
