/** Appends and the first page of the list on a store of ten million events, against one of a hundred thousand. */
import { connect } from "../../../src/db/connect.ts";
import { untilCaughtUp } from "../../../src/runtime/pipeline.ts";
import {
  createSessionStore,
  type SessionStore,
} from "../../../src/session-store.ts";
import { batchesOf } from "../../generator/batches.ts";
import { generateSessions } from "../../generator/sessions.ts";
import type { Contender } from "../contenders/contender.ts";
import { turnlog } from "../contenders/turnlog.ts";
import { drive } from "../drive.ts";
import { thinnedLog } from "../payloads.ts";
import { startPipelineProcess } from "../pipeline-process.ts";
import type { Figure } from "../result.ts";
import { compared, measureInTurns } from "../rounds.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { percentile } from "../statistics.ts";

const SMALL = 100_000;
const LARGE = 10_000_000;
const QUICK_LARGE = 500_000;

const BATCH = 2_000;
const PAGE = 50;

/** Small enough for the smaller store to fill a page of the list. */
const MEDIAN_EVENTS = 500;

interface Filled {
  readonly events: number;
  readonly contender: Contender;
  readonly store: SessionStore;
}

export const scale: Scenario = {
  name: "scale",
  title:
    "One-event appends and a page of the list at 10,000,000 stored events against 100,000",
  long: true,
  async run(bench) {
    const sizes = [SMALL, bench.quick ? QUICK_LARGE : LARGE];
    const filled: Filled[] = [];
    for (const events of sizes) filled.push(await fill(bench, events));
    try {
      const log = thinnedLog(1, 10_000);
      return [
        ...(await latencies(bench, filled, "append", (one) =>
          appends(bench, one, log),
        )),
        ...(await latencies(bench, filled, "list", (one) => pages(bench, one))),
      ];
    } finally {
      for (const { store, contender } of filled) {
        await store.close();
        await contender.close();
      }
    }
  },
};

/** Stores the sessions and has them folded, so that the list is full. */
async function fill(bench: Bench, events: number): Promise<Filled> {
  const databaseUrl = await bench.server.createDatabase();
  await turnlog.install(databaseUrl);
  const store = await createSessionStore({ databaseUrl });
  const contender = await turnlog.connect({ databaseUrl, poolSize: 1 });
  const beganAt = performance.now();
  const pipeline = startPipelineProcess(databaseUrl);
  try {
    await storeSessions(store, events);
    await untilFolded(databaseUrl);
  } finally {
    await pipeline[Symbol.asyncDispose]();
  }
  const seconds = (performance.now() - beganAt) / 1_000;
  bench.say(`${events} events stored and folded in ${seconds.toFixed(0)} s`);
  return { events, contender, store };
}

async function storeSessions(
  store: SessionStore,
  events: number,
): Promise<void> {
  const shape = { seed: 1, events, medianEvents: MEDIAN_EVENTS };
  for (const { header, events: log } of generateSessions(shape)) {
    const { id, version: _version, ...given } = header;
    let seq = 0;
    for (const batch of batchesOf(log, BATCH)) {
      await store.append(id, batch, { expectedSeq: seq, header: given });
      seq += batch.length;
    }
  }
}

async function untilFolded(databaseUrl: string): Promise<void> {
  await using db = connect({
    databaseUrl,
    poolSize: 1,
    applicationName: "turnlog-bench",
    preparedStatements: true,
  });
  if (!(await untilCaughtUp(db))) throw new Error("the fold stands still");
  await db.rows({ text: "vacuum analyze", timeoutMs: 600_000 });
}

/** p50 and p99 of each round, in ms. */
async function latencies(
  bench: Bench,
  filled: readonly Filled[],
  what: string,
  measure: (one: Filled) => Promise<readonly number[]>,
): Promise<Figure[]> {
  const found = new Map<string, (readonly number[])[]>();
  const subjects = filled.map((one) => ({
    name: nameOf(one),
    async measure() {
      const times = await measure(one);
      found.set(nameOf(one), [...(found.get(nameOf(one)) ?? []), times]);
      bench.say(
        `${what}, ${nameOf(one)}: p50 ${percentile(times, 0.5).toFixed(2)} ms`,
      );
      return percentile(times, 0.5);
    },
  }));
  await measureInTurns(subjects, { rounds: bench.rounds });
  return [0.5, 0.99].flatMap((share) => {
    const name = `${what} p${share * 100}`;
    const values = new Map(
      [...found].map(([size, rounds]) => [
        `${name}, ${size}`,
        rounds.map((times) => percentile(times, share)),
      ]),
    );
    const [small = "", large = ""] = values.keys();
    return compared(values, new Map(), {
      unit: "ms",
      better: "lower",
      baseline: small,
      targets: { [large]: 1.3 },
    });
  });
}

function nameOf({ events }: Filled): string {
  return `${events.toLocaleString("en-US")} events`;
}

async function appends(
  bench: Bench,
  { contender }: Filled,
  log: ReturnType<typeof thinnedLog>,
): Promise<readonly number[]> {
  const load = { writers: 1, eventsPerAppend: 1, log };
  return (await drive(contender, load, bench.windowMs)).latencies;
}

async function pages(
  bench: Bench,
  { store }: Filled,
): Promise<readonly number[]> {
  const times: number[] = [];
  const until = performance.now() + bench.windowMs;
  while (performance.now() < until) {
    const askedAt = performance.now();
    await store.sessions({ limit: PAGE });
    times.push(performance.now() - askedAt);
  }
  return times;
}
