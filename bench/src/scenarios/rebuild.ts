/** A projection of messages is built anew from all events; and all projections of a large store. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { z } from "zod";
import {
  createSessionStore,
  type SessionStore,
} from "../../../src/session-store.ts";
import { batchesOf } from "../../generator/batches.ts";
import { generateSessions } from "../../generator/sessions.ts";
import type { ContenderKind } from "../contenders/contender.ts";
import { loadPeer } from "../contenders/load-peer.ts";
import { turnlog } from "../contenders/turnlog.ts";
import type { Figure } from "../result.ts";
import { compared, measureInTurns } from "../rounds.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { streamLog } from "../stream-log.ts";

const EVENTS = 100_000;
const LARGE = 1_000_000;
const QUICK = 20_000;
const QUICK_LARGE = 100_000;
const BATCH = 2_000;

export const rebuildScenarios: readonly Scenario[] = [
  {
    name: "rebuild",
    title: "Rebuild a table of messages over 100,000 events",
    async run(bench) {
      const kinds = [await loadPeer("emmett"), turnlog];
      const events = bench.quick ? QUICK : EVENTS;
      const subjects = [];
      for (const kind of kinds) {
        const databaseUrl = await fill(bench, kind, events);
        subjects.push({
          name: kind.name,
          measure: () => measure(bench, kind, databaseUrl, events),
        });
      }
      const values = await measureInTurns(subjects, { rounds: bench.rounds });
      return compared(values, new Map(), {
        unit: "events/s",
        better: "higher",
        baseline: "emmett",
        targets: { turnlog: 15 },
      });
    },
  },
  {
    name: "rebuild-all",
    title:
      "Rebuild all projections over 1,000,000 events: replay, indexes, verification, swap",
    async run(bench) {
      const events = bench.quick ? QUICK_LARGE : LARGE;
      const databaseUrl = await bench.server.createDatabase();
      await turnlog.install(databaseUrl);
      await using store = await createSessionStore({ databaseUrl });
      await storeSessions(store, events);
      const runs: RebuildRun[] = [];
      for (let round = 0; round < bench.rounds; round += 1) {
        const run = await rebuildInProcess(databaseUrl);
        bench.say(
          `replay ${Math.round(events / run.replaySeconds)} events/s, all ${Math.round(events / run.seconds)} events/s, ${Math.round(run.peakMiB)} MiB`,
        );
        runs.push(run);
      }
      return figures(runs, events);
    },
  },
];

async function fill(
  bench: Bench,
  kind: ContenderKind,
  events: number,
): Promise<string> {
  const databaseUrl = await bench.server.createDatabase();
  await kind.install(databaseUrl);
  const contender = await kind.connect({ databaseUrl, poolSize: 1 });
  for (const session of generateSessions({ seed: 5, events }))
    await streamLog(contender, session.header.id, [...session.events], 500);
  await contender.close();
  return databaseUrl;
}

/** Events a second. */
async function measure(
  bench: Bench,
  { name, rebuildMessages }: ContenderKind,
  databaseUrl: string,
  events: number,
): Promise<number> {
  if (rebuildMessages === undefined)
    throw new Error(`${name} can't rebuild anything`);
  const beganAt = performance.now();
  await rebuildMessages(databaseUrl);
  const rate = events / ((performance.now() - beganAt) / 1_000);
  bench.say(`${name}: ${Math.round(rate)} events/s`);
  return rate;
}

async function storeSessions(
  store: SessionStore,
  events: number,
): Promise<void> {
  for (const session of generateSessions({ seed: 6, events })) {
    const { version: _version, id, ...header } = session.header;
    let seq = 0;
    for (const batch of batchesOf(session.events, BATCH)) {
      await store.append(id, batch, { expectedSeq: seq, header });
      seq += batch.length;
    }
  }
}

const rebuildRun = z.object({
  replaySeconds: z.number(),
  seconds: z.number(),
  peakMiB: z.number(),
});
type RebuildRun = z.infer<typeof rebuildRun>;

/** In a process of its own, so that its memory is its own. */
async function rebuildInProcess(databaseUrl: string): Promise<RebuildRun> {
  const file = join(import.meta.dirname, "..", "rebuild-process.js");
  const child = spawn(process.execPath, [file, databaseUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  await once(child, "close");
  return rebuildRun.parse(JSON.parse(output));
}

function figures(runs: readonly RebuildRun[], events: number): Figure[] {
  const alone = {
    ratios: [],
    baseline: null,
    costs: {},
  };
  return [
    {
      ...alone,
      name: "replay",
      unit: "events/s",
      rounds: runs.map(({ replaySeconds }) => events / replaySeconds),
      better: "higher",
      target: 250_000,
    },
    {
      ...alone,
      name: "from the first event to the swap",
      unit: "events/s",
      rounds: runs.map(({ seconds }) => events / seconds),
      better: "higher",
      target: null,
    },
    {
      ...alone,
      name: "memory of the process at most",
      unit: "MiB",
      rounds: runs.map(({ peakMiB }) => peakMiB),
      better: "lower",
      target: 300,
    },
  ];
}
