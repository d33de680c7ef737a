import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { connect, type Db } from "../../src/db/connect.ts";
import { silentLogger } from "../../src/logger.ts";
import {
  startPipeline,
  startProjectorPart,
  untilCaughtUp,
} from "../../src/runtime/pipeline.ts";
import { storeOver } from "../../src/session-store.ts";
import {
  appendLog,
  expectNothingLeft,
  expectStoredAndFolded,
} from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();
const VICTIM = "turnlog-victim";

function connectVictim(): Db {
  return connect({
    databaseUrl: database().url,
    poolSize: 6,
    applicationName: VICTIM,
    preparedStatements: true,
  });
}

/** Ends a random connection again and again, until the signal. */
async function killConnections(
  db: Db,
  everyMs: number,
  signal: AbortSignal,
): Promise<void> {
  const text = `
    select pg_terminate_backend(pid)
    from (
      select pid
      from pg_stat_activity
      where application_name = $1 and datname = current_database()
      order by random()
      limit 1
    ) victim`;
  while (!signal.aborted) {
    await sleep(everyMs);
    await db.rows({ text }, [VICTIM]);
  }
}

const plannedLogs = (count: number) =>
  fc.array(
    fc.record({
      log: legalLog().filter(({ events }) => events.length > 0),
      batch: fc.integer({ min: 1, max: 25 }),
    }),
    { minLength: count, maxLength: count },
  );

describe("two relays and four projectors", () => {
  it("end in the tables of the pure fold, whatever connection is cut", async () => {
    const { db, store: healthy } = database();
    await fc.assert(
      fc.asyncProperty(plannedLogs(8), async (plans) => {
        const stop = new AbortController();
        const killing = killConnections(db, 30, stop.signal);
        const store = storeOver(connectVictim());
        const config = { ...readConfig({}, {}), projectorConcurrency: 2 };
        const parts = [0, 1, 2, 3].map(() => ({
          db: connectVictim(),
          config,
          logger: silentLogger,
        }));
        const running = await Promise.all(
          parts.map((part, at) =>
            at < 2 ? startPipeline(part) : startProjectorPart(part),
          ),
        );

        const appended = await Promise.all(
          plans.map(({ log, batch }) => appendLog(store, log, batch)),
        );
        stop.abort();
        await killing;
        await untilCaughtUp(db);
        for (const part of running) await part[Symbol.asyncDispose]();
        for (const part of parts) await part.db.close();
        await store.close();

        await expectNothingLeft(db);
        for (const log of appended)
          await expectStoredAndFolded(healthy, db, log);
      }),
      { numRuns: runs(5) },
    );
  });
});
