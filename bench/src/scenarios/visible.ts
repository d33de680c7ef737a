/** From the commit of an append to its row in `turnlog_read.messages`, at a steady pace. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import {
  createSessionStore,
  type SessionStore,
} from "../../../src/session-store.ts";
import { turnlog } from "../contenders/turnlog.ts";
import { startPipelineProcess } from "../pipeline-process.ts";
import { startRedis } from "../redis-server.ts";
import type { Figure } from "../result.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import { watchMessages } from "../watch-messages.ts";

const SESSIONS = 100;
const APPENDS_A_SECOND = 200;

/** Queue drivers, each with what it needs beside Postgres; null where that is not to be had. */
const DRIVERS = [
  { driver: "postgres", open: () => Promise.resolve(NOTHING) },
  { driver: "redis", open: startRedis },
] as const;

const NOTHING = {
  url: null,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

export const visibleScenarios: readonly Scenario[] = DRIVERS.map(
  ({ driver, open }) => ({
    name: `visible-${driver}`,
    title: `From commit to turnlog_read.messages at ${APPENDS_A_SECOND} appends/s over ${SESSIONS} sessions, ${driver} queue`,
    async run(bench) {
      await using service = await open();
      if (service === null) {
        bench.warn("left out: there is no redis-server on the PATH.");
        return [];
      }
      const databaseUrl = await bench.server.createDatabase();
      await turnlog.install(databaseUrl);
      await using store = await createSessionStore({ databaseUrl });
      await using _pipeline = startPipelineProcess(
        databaseUrl,
        service.url === null ? {} : { TURNLOG_REDIS_URL: service.url },
      );
      const watcher = new pg.Client(databaseUrl);
      await watcher.connect();
      try {
        return await measure(bench, store, watcher);
      } finally {
        await watcher.end();
      }
    },
  }),
);

async function measure(
  bench: Bench,
  store: SessionStore,
  watcher: pg.Client,
): Promise<readonly Figure[]> {
  const heads = new Map(
    Array.from({ length: SESSIONS }, () => [randomUUID(), 0]),
  );
  const seconds = (bench.windowMs * 3) / 1_000;
  // The pipeline's process has to start, and every session to be made.
  await runRound(store, watcher, heads, 2);
  const rounds: (readonly number[])[] = [];
  for (let round = 0; round < bench.rounds; round += 1) {
    const waits = await runRound(store, watcher, heads, seconds);
    bench.say(
      `p50 ${percentile(waits, 0.5).toFixed(1)} ms, p99 ${percentile(waits, 0.99).toFixed(1)} ms`,
    );
    rounds.push(waits);
  }
  return [
    figure(rounds, "p50", 0.5, 20),
    figure(rounds, "p90", 0.9, null),
    figure(rounds, "p99", 0.99, 150),
    figure(rounds, "most", 1, null),
  ];
}

function figure(
  rounds: readonly (readonly number[])[],
  name: string,
  share: number,
  target: number | null,
): Figure {
  return {
    name,
    unit: "ms",
    rounds: rounds.map((waits) => percentile(waits, share)),
    ratios: [],
    baseline: null,
    better: "lower",
    target,
    costs: {},
  };
}

/** Appends at the pace, whatever the answers take, and returns how long each append took to be seen, in ms. */
async function runRound(
  store: SessionStore,
  watcher: pg.Client,
  heads: Map<string, number>,
  seconds: number,
): Promise<readonly number[]> {
  const watch = watchMessages(watcher);
  const ids = [...heads.keys()];
  const beganAt = performance.now();
  const appends: Promise<void>[] = [];
  const append = async (sessionId: string): Promise<void> => {
    const seq = heads.get(sessionId) ?? 0;
    heads.set(sessionId, seq + 1);
    await store.append(sessionId, [prompt()], { expectedSeq: seq });
    watch.committed(sessionId, seq);
  };
  for (let at = 0; at < APPENDS_A_SECOND * seconds; at += 1) {
    const dueAt = beganAt + (at * 1_000) / APPENDS_A_SECOND;
    await sleep(Math.max(dueAt - performance.now(), 0));
    appends.push(append(ids[at % ids.length] ?? ""));
  }
  await Promise.all(appends);
  return watch.finish();
}

function prompt() {
  return {
    type: "user/message",
    surfaceOp: "append",
    data: {
      id: randomUUID(),
      role: "user",
      source: { kind: "user" },
      content: [
        { type: "text", text: "Look at this once more, please. ".repeat(8) },
      ],
    },
  } as const;
}
