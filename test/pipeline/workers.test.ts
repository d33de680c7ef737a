import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { untilCaughtUp } from "../../src/runtime/pipeline.ts";
import {
  appendLog,
  expectCheckpointsAtFactsHead,
  expectNothingLeft,
  expectStoredAndFolded,
} from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { legalLog } from "../support/generated-logs.ts";
import { isLong } from "../support/property-runs.ts";
import { jobCount, STROKES, upsetRedis } from "../support/redis-chaos.ts";
import { hasRedisServer, privateRedis } from "../support/redis.ts";
import { startWorker, type WorkerProcess } from "../support/worker-process.ts";

const database = useTestDatabase();
/** The default, which the workers have. */
const PREFIX = "turnlog";
const NAMES = [
  "relay",
  "relay",
  "projector",
  "projector",
  "projector",
  "projector",
] as const;

const plans = fc.array(
  fc.record({
    log: legalLog().filter(({ events }) => events.length > 0),
    batch: fc.integer({ min: 1, max: 25 }),
  }),
  { minLength: 40, maxLength: 40 },
);

/** Longer than a relay's lease, and than work is left to the one who took it. */
const FROZEN_MS = 6_000;

/** One more worker of each kind that stands still for a while, and then goes on with what is others' by then. */
async function freezeWorkers(redisUrl: string): Promise<WorkerProcess[]> {
  const { url } = database();
  const workers = [
    startWorker("relay", url, redisUrl),
    startWorker("projector", url, redisUrl),
  ];
  await Promise.all(
    workers.map(async (worker) => {
      await worker.started();
      await sleep(500);
      await worker.freeze(FROZEN_MS);
    }),
  );
  return workers;
}

/** Ends a random worker process with SIGKILL again and again, and starts another in its place. */
async function killWorkers(
  workers: WorkerProcess[],
  redisUrl: string,
  signal: AbortSignal,
): Promise<number> {
  let kills = 0;
  while (!signal.aborted) {
    await sleep(600);
    const [victim] = workers.splice(
      Math.floor(Math.random() * workers.length),
      1,
    );
    if (victim === undefined) return kills;
    await victim.kill("SIGKILL");
    workers.push(startWorker(victim.name, database().url, redisUrl));
    kills += 1;
  }
  return kills;
}

/**
 * Appends logs while workers are killed and `trouble` goes on, and after it until `isOver`; then holds the tables
 * against the pure fold.
 */
async function expectFoldedDespite(
  redisUrl: string,
  trouble: Promise<void>,
  isOver: () => Promise<boolean>,
): Promise<void> {
  const { db, store, url } = database();
  const workers = NAMES.map((name) => startWorker(name, url, redisUrl));
  const freezing = freezeWorkers(redisUrl);
  const stop = new AbortController();
  const killing = killWorkers(workers, redisUrl, stop.signal);
  const logs = fc.sample(plans, { numRuns: 1, seed: 11 })[0] ?? [];
  const over = new AbortController();
  const ending = trouble.finally(() => over.abort());

  const appended = [];
  for (let at = 0; at < logs.length || !over.signal.aborted; at += 1) {
    const plan = logs[at % logs.length];
    if (plan !== undefined)
      appended.push(await appendLog(store, plan.log, plan.batch));
    await sleep(100);
  }
  await ending;
  stop.abort();
  const kills = await killing;
  workers.push(...(await freezing));
  const [last] = logs;
  if (last === undefined) throw new Error("there are no logs to append");
  while (!(await isOver())) {
    appended.push(await appendLog(store, last.log, last.batch));
    await sleep(100);
  }
  await untilCaughtUp(db);
  await Promise.all(workers.map((worker) => worker.kill("SIGTERM")));

  expect(kills).toBeGreaterThan(3);
  await expectNothingLeft(db);
  await expectCheckpointsAtFactsHead(db);
  for (const log of appended) await expectStoredAndFolded(store, db, log);
}

async function exitCodes(redisUrl: string): Promise<readonly unknown[]> {
  const { url } = database();
  const workers = [
    startWorker("relay", url, redisUrl),
    startWorker("projector", url, redisUrl),
  ];
  await Promise.all(workers.map((worker) => worker.started()));
  return Promise.all(workers.map((worker) => worker.kill("SIGTERM")));
}

describe("two relay processes and four projector processes over Postgres alone", () => {
  it("end in the tables of the pure fold, whatever process is killed or stands still", async () => {
    await expectFoldedDespite("", Promise.resolve(), async () => true);
  });

  it("stop by themselves, with exit code 0, when they are told to", async () => {
    expect(await exitCodes("")).toEqual([0, 0]);
  });
});

describe.runIf(hasRedisServer)(
  "two relay processes and four projector processes over Redis",
  () => {
    it("end in the tables of the pure fold, whatever process is killed or stands still and whatever becomes of Redis", async () => {
      const { db } = database();
      await using redis = await privateRedis();
      const strokes = isLong
        ? fc.sample(fc.constantFrom(...STROKES), 60)
        : STROKES;

      await expectFoldedDespite(
        redis.url,
        upsetRedis(redis, db, {
          strokes,
          everyMs: 500,
          awayMs: isLong ? 10_000 : 1_500,
          prefix: PREFIX,
        }),
        async () => (await jobCount(redis, db, PREFIX)) > 0,
      );
    });

    it("stop by themselves, with exit code 0, when they are told to, whatever Redis does", async () => {
      await using redis = await privateRedis();

      expect(await exitCodes(redis.url)).toEqual([0, 0]);
      redis.freeze();
      expect(await exitCodes(redis.url)).toEqual([0, 0]);
      await redis.kill();
      expect(await exitCodes(redis.url)).toEqual([0, 0]);
    });
  },
);
