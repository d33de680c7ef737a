import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import {
  appendLog,
  expectCheckpointsAtFactsHead,
  expectFolded,
} from "../support/append-log.ts";
import { startBuilder } from "../support/builder-process.ts";
import { useTestDatabase } from "../support/database.ts";
import { prompt } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";
import { exampleLog } from "../support/projector-steps.ts";
import type { LogLike } from "../support/reference-log.ts";
import { ALL, expectTidy, liveState, operator } from "../support/rebuilds.ts";
import {
  openTransaction,
  type OpenTransaction,
} from "../support/relay-open-transaction.ts";
import { eventually } from "../support/relay-waiting.ts";

/** More sessions than are replayed at a time. */
const SESSIONS = 240;
/** Sessions of the first portion. */
const PORTION = 200;

interface Filled {
  readonly log: LogLike;
  /** In byte order. */
  readonly ids: readonly string[];
}

const database = useTestDatabase();
let filled: Filled;

/** Many small sessions and a longer one, all in the live tables; each test leaves them so. */
beforeAll(async () => {
  const { store, db } = database();
  const log = await appendLog(store, exampleLog("04-compaction.jsonl"), 500);
  const small = Array.from({ length: SESSIONS }, () => randomUUID());
  await Promise.all(
    small.map((id) => store.append(id, [prompt("hello")], { expectedSeq: 0 })),
  );
  await catchUp(db);
  filled = { log, ids: [log.header.id, ...small].toSorted() };
});

/** Something that holds a rebuild up at one of its steps, until the transaction ends. */
interface Obstacle {
  readonly step: string;
  readonly put: (tx: OpenTransaction, filled: Filled) => Promise<unknown>;
  /** True once the rebuild has run into it. */
  readonly isMet: (db: Db) => Promise<boolean>;
}

const OBSTACLES: readonly Obstacle[] = [
  {
    step: "replaying",
    put: (tx, { ids }) =>
      tx.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [ids[PORTION + 20]],
      ),
    isMet: async (db) => (await waiting(db, "sessions")) > 0,
  },
  {
    step: "indexing",
    put: (tx) =>
      tx
        .rows({ text: "set transaction isolation level repeatable read" })
        .then(() => tx.rows({ text: "select from turnlog.schema" })),
    isMet: async (db) => (await troubleOf(db)).includes("older"),
  },
  {
    step: "swapping",
    put: (tx) => tx.rows({ text: "select from turnlog_read.messages limit 1" }),
    isMet: async (db) => (await troubleOf(db)).includes("readers"),
  },
];

/** Statements on a table that wait for a lock. */
async function waiting(db: Db, table: string): Promise<number> {
  const [row] = await db.rows<{ count: number }>(
    {
      text: `
        select count(*) from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database() and query like '%turnlog.' || $1 || '%'`,
    },
    [table],
  );
  return row?.count ?? 0;
}

async function troubleOf(db: Db): Promise<string> {
  const [progress] = await operator(db).progress();
  return progress?.trouble ?? "";
}

async function untilMet(db: Db, obstacle: Obstacle): Promise<void> {
  await eventually(async () => {
    if (!(await obstacle.isMet(db)))
      throw new Error(`the rebuild does not wait at ${obstacle.step}`);
  });
}

/** Nobody waits ten seconds for a process that is known to be dead. */
async function forgetHolders(db: Db): Promise<void> {
  await db.rows({
    text: "update turnlog.rebuild_ranges set held_until = now() where done_at is null",
  });
  await db.rows({ text: "update turnlog.rebuilds set held_until = now()" });
}

/** Checkpoints of builds that are not live yet, with the transactions that wrote them. */
function newCheckpoints(db: Db): Promise<object[]> {
  return db.rows({
    text: `
      select c.session_id, c.build, c.xmin::text
      from turnlog.checkpoints c join turnlog.builds b on b.number = c.build
      where b.status in ('building', 'feeding') order by 1, 2`,
  });
}

describe("a builder that is killed", () => {
  it.each(OBSTACLES)(
    "while it is $step leaves the live builds alone, and the next one goes on from there",
    async (obstacle) => {
      const { db, url } = database();
      const before = await liveState(db);
      await using tx = await openTransaction(db);
      await obstacle.put(tx, filled);
      const builder = startBuilder(url);
      await untilMet(db, obstacle);

      builder.kill("SIGKILL");
      await builder.ended;

      expect(await liveState(db)).toEqual(before);
      const written = await newCheckpoints(db);
      expect(written.length).toBeGreaterThanOrEqual(PORTION * ALL.length);
      await tx.rollback();
      await forgetHolders(db);
      const { code } = await startBuilder(url).ended;
      expect(code).toBe(0);
      const after = await db.rows({
        text: "select session_id, build, xmin::text from turnlog.checkpoints order by 1, 2",
      });
      expect(after).toEqual(expect.arrayContaining(written));
      await expectFolded(db, filled.log);
      await expectCheckpointsAtFactsHead(db);
      await expectTidy(db);
    },
  );
});

describe("a rebuild that is cancelled", () => {
  it.each(OBSTACLES)(
    "while it is $step leaves nothing behind, and its builder stops",
    async (obstacle) => {
      const { db, url } = database();
      const before = await liveState(db);
      await using tx = await openTransaction(db);
      await obstacle.put(tx, filled);
      const builder = startBuilder(url);
      await untilMet(db, obstacle);

      const cancelling = operator(db).cancel();
      if (obstacle.step === "replaying") await tx.rollback();
      await cancelling;
      await tx.rollback();

      const { code, stderr } = await builder.ended;
      expect(code).toBe(1);
      expect(stderr).toContain("is cancelled");
      expect(await liveState(db)).toEqual(before);
      await expectTidy(db);
    },
  );
});

describe("a builder that is interrupted", () => {
  it("stops after what it has in hand and says how to go on", async () => {
    const { db, url } = database();
    const [obstacle] = OBSTACLES;
    await using tx = await openTransaction(db);
    await obstacle?.put(tx, filled);
    const builder = startBuilder(url);
    if (obstacle !== undefined) await untilMet(db, obstacle);

    builder.kill("SIGINT");
    await tx.rollback();

    const { code, stderr } = await builder.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("run the same command to go on");
    await operator(db).rebuild(ALL);
    await expectTidy(db);
  });
});

describe("two builders at once", () => {
  it("share one rebuild and both end well", async () => {
    const { db, url } = database();

    const ends = await Promise.all([
      startBuilder(url).ended,
      startBuilder(url).ended,
    ]);

    expect(ends.map(({ code }) => code)).toEqual([0, 0]);
    await expectFolded(db, filled.log);
    await expectCheckpointsAtFactsHead(db);
    await expectTidy(db);
  });
});
