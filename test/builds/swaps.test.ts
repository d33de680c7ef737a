import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import type { Db, Queryable } from "../../src/db/connect.ts";
import { silentLogger } from "../../src/logger.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { startPipeline, untilCaughtUp } from "../../src/runtime/pipeline.ts";
import type { SessionStore } from "../../src/session-store.ts";
import {
  appendLog,
  expectCheckpointsAtFactsHead,
  expectFolded,
} from "../support/append-log.ts";
import { freshDatabase } from "../support/database.ts";
import { catchUp } from "../support/pipeline.ts";
import { exampleLog } from "../support/projector-steps.ts";
import { isLong } from "../support/property-runs.ts";
import type { LogLike } from "../support/reference-log.ts";
import { ALL, expectTidy, operator } from "../support/rebuilds.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";

/** As many as show a swap that goes wrong seldom. */
const REBUILDS = isLong ? 200 : 3;

const VIEWS = builtInProjections.flatMap(({ views }) =>
  views.map(({ name }) => name),
);

const STABLE = [
  "01-fix-failing-test.jsonl",
  "04-compaction.jsonl",
  "08-nul-and-pruned-output.jsonl",
];

/** Statements whose answers must never change: each view, and one that needs two of them to agree. */
async function questions(db: Queryable): Promise<readonly string[]> {
  const bySession = await db.rows<{ name: string }>(
    {
      text: `
        select attrelid::regclass::text as name from pg_attribute
        where attname = 'session_id' and attrelid = any(select to_regclass('turnlog_read.' || v) from unnest($1::text[]) v)
        order by 1`,
    },
    [VIEWS],
  );
  const others = VIEWS.map((name) => `turnlog_read.${name}`).filter(
    (name) => !bySession.some((view) => view.name === name),
  );
  return [
    ...bySession.map(
      ({ name }) =>
        `select count(*) as rows, md5(string_agg(v::text, '' order by v::text)) as digest from ${name} v where session_id = any($1)`,
    ),
    ...others.map(
      (name) =>
        `select count(*) > 0 as is_filled from ${name} where $1::text[] is not null`,
    ),
    `select s.session_id, s.step_count, (select count(*) from turnlog_read.messages m where m.session_id = s.session_id) as messages
     from turnlog_read.sessions s where s.session_id = any($1) order by 1`,
  ];
}

async function answers(
  db: Queryable,
  ids: readonly string[],
): Promise<readonly object[][]> {
  const found = [];
  for (const text of await questions(db))
    found.push(await db.rows({ text }, [ids]));
  return found;
}

/** Reads all views over and over until told to stop; returns how often. */
async function readAround(
  db: Db,
  ids: readonly string[],
  expected: readonly object[][],
  signal: AbortSignal,
): Promise<number> {
  for (let rounds = 0; ; rounds += 1) {
    if (signal.aborted) return rounds;
    expect(await answers(db, ids)).toEqual(expected);
  }
}

/** Appends logs one after the other, event by event or so, until told to stop. */
async function appendAround(
  store: SessionStore,
  signal: AbortSignal,
): Promise<readonly LogLike[]> {
  const logs: LogLike[] = [];
  while (!signal.aborted) {
    logs.push(
      await appendLog(store, exampleLog("10-delegated-reading.jsonl"), 3),
    );
    await sleep(20);
  }
  return logs;
}

describe("while projections are rebuilt again and again", () => {
  it("readers get no error, nothing empty and nothing mixed, and appends and live projection go on (59, B115)", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const logs = [];
    for (const name of STABLE)
      logs.push(await appendLog(store, exampleLog(name), 500));
    await catchUp(db);
    const ids = logs.map(({ header }) => header.id);
    const expected = await answers(db, ids);
    const stop = new AbortController();
    const appended: readonly LogLike[] = await (async () => {
      await using _pipeline = await startPipeline({
        db,
        config: readConfig({}, {}),
        logger: silentLogger,
      });
      const readers = [1, 2].map(() =>
        readAround(db, ids, expected, stop.signal),
      );
      const appending = appendAround(store, stop.signal);
      const builds = operator(db);

      for (let at = 0; at < REBUILDS; at += 1) await builds.rebuild(ALL);

      stop.abort();
      for (const rounds of await Promise.all(readers))
        expect(rounds).toBeGreaterThan(REBUILDS);
      const done = await appending;
      await untilCaughtUp(db);
      return done;
    })();

    for (const log of [...logs, ...appended.slice(-5)])
      await expectFolded(db, log);
    await expectCheckpointsAtFactsHead(db);
    await expectTidy(db);
  });

  it("a transaction with a snapshot from before sees what it saw", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const { header } = await appendLog(store, exampleLog(STABLE[0] ?? ""), 500);
    await catchUp(db);
    const builds = operator(db);
    await using reader = await openTransaction(db);
    await reader.rows({
      text: "set transaction isolation level repeatable read",
    });
    const expected = await answers(reader, [header.id]);
    const rebuilding = builds.rebuild(ALL, { waitMs: 30_000 });
    for (let round = 0; round < 5; round += 1) {
      expect(await answers(reader, [header.id])).toEqual(expected);
      await sleep(50);
    }

    await reader.rollback();
    await rebuilding;

    expect(await answers(db, [header.id])).toEqual(expected);
  });
});

describe("a swap that doesn't get its locks", () => {
  it("gives up after its time, names who has them, and leaves everything as it was", async () => {
    await using fresh = await freshDatabase();
    const { db } = fresh;
    await using reader = await openTransaction(db);
    await reader.rows({ text: "select from turnlog_read.titles" });
    const builds = operator(db);

    const swapping = builds.rebuild(["titles"], { waitMs: 300 });

    await expect(swapping).rejects.toMatchObject({ code: "BUILD_LOCKED" });
    const error = await swapping.catch((e: unknown) => e);
    const [pid] = await reader.rows<{ pid: number }>({
      text: "select pg_backend_pid() as pid",
    });
    expect(error).toMatchObject({ blockers: [pid?.pid] });
    await reader.rollback();
    await builds.rebuild(["titles"]);
    await expectTidy(db);
  });

  it("goes on under views of others that stand on it", async () => {
    await using fresh = await freshDatabase();
    const { db } = fresh;
    await db.rows({
      text: "create view public.mine as select title from turnlog_read.titles",
    });
    const builds = operator(db);
    await builds.rebuild(["titles"]);

    const [row] = await db.rows({ text: "select count(*) as rows from mine" });

    expect(row).toEqual({ rows: 0 });
  });
});
