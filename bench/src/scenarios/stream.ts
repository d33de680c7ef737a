/** The chunks of a model's answers, streamed into the store as a log in real shape has them; and what they take up. */
import { randomUUID } from "node:crypto";
import { generateSession } from "../../generator/session.ts";
import { loadPeer } from "../contenders/load-peer.ts";
import { plainSql } from "../contenders/plain-sql.ts";
import { turnlog } from "../contenders/turnlog.ts";
import type { Contender, ContenderKind } from "../contenders/contender.ts";
import {
  costsPerEvent,
  middleCosts,
  readCounters,
  type WorkCosts,
} from "../costs.ts";
import type { Figure } from "../result.ts";
import { compared, measureInTurns } from "../rounds.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { storedBytes } from "../stored-bytes.ts";
import { streamLog } from "../stream-log.ts";

const EVENTS = 87_000;
const QUICK_EVENTS = 20_000;

interface Streamer {
  readonly kind: ContenderKind;
  readonly eventsPerAppend: number;
  readonly databaseUrl: string;
  readonly contender: Contender;
  readonly costs: WorkCosts[];
}

export const stream: Scenario = {
  name: "stream",
  title:
    "An 87,000-event log in real shape, streamed by one writer: turnlog and plain SQL in batches of 500, emmett of 100",
  async run(bench) {
    const streamers = [
      await open(bench, await loadPeer("emmett"), 100),
      await open(bench, turnlog, 500),
      await open(bench, plainSql, 500),
    ];
    try {
      return [
        ...(await speeds(bench, streamers)),
        ...(await sizes(bench, streamers)),
      ];
    } finally {
      for (const { contender } of streamers) await contender.close();
    }
  },
};

async function open(
  bench: Bench,
  kind: ContenderKind,
  eventsPerAppend: number,
): Promise<Streamer> {
  const databaseUrl = await bench.server.createDatabase();
  await kind.install(databaseUrl);
  const contender = await kind.connect({ databaseUrl, poolSize: 1 });
  return { kind, eventsPerAppend, databaseUrl, contender, costs: [] };
}

async function speeds(
  bench: Bench,
  streamers: readonly Streamer[],
): Promise<Figure[]> {
  const log = logOf(bench);
  const subjects = streamers.map((streamer) => ({
    name: streamer.kind.name,
    async measure() {
      const { contender, eventsPerAppend, kind } = streamer;
      const before = await readCounters(bench.server);
      const speed = await streamLog(
        contender,
        randomUUID(),
        log,
        eventsPerAppend,
      );
      const after = await readCounters(bench.server);
      streamer.costs.push(costsPerEvent(before, after, log.length));
      bench.say(`${kind.name}: ${Math.round(speed)} events/s`);
      return speed;
    },
  }));
  const values = await measureInTurns(subjects, { rounds: bench.rounds });
  const costs = new Map(
    streamers.map((streamer) => [
      streamer.kind.name,
      middleCosts(streamer.costs),
    ]),
  );
  return compared(values, costs, {
    unit: "events/s",
    better: "higher",
    baseline: "emmett",
    targets: { turnlog: 12 },
  });
}

/** Of all rounds' logs together. */
async function sizes(
  bench: Bench,
  streamers: readonly Streamer[],
): Promise<Figure[]> {
  const events = logOf(bench).length * bench.rounds;
  const values = new Map<string, readonly number[]>();
  for (const { kind, databaseUrl } of streamers)
    values.set(`${kind.name}, stored`, [
      (await storedBytes(databaseUrl)) / events,
    ]);
  return compared(values, new Map(), {
    unit: "bytes/event",
    better: "lower",
    baseline: "plain SQL, stored",
    targets: { "turnlog, stored": 1 / 7 },
  });
}

function logOf(bench: Bench) {
  const events = bench.quick ? QUICK_EVENTS : EVENTS;
  return [...generateSession({ seed: 1, events }).events];
}
