import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import { announceWorker, retireWorker } from "../../src/builds/workers.ts";
import type { Db } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import { BuildNotFoundError, BuildUnfedError } from "../../src/errors.ts";
import { member } from "../../src/events/event.ts";
import { idText, safeBigint } from "../../src/projections/columns.ts";
import {
  defineProjection,
  type Projection,
} from "../../src/projector/projection.ts";
import { freshDatabase } from "../support/database.ts";
import { note } from "../support/events.ts";
import { foldFully } from "../support/projector-steps.ts";
import { buildStates, expectTidy, operator } from "../support/rebuilds.ts";
import { workOf } from "../support/relay-steps.ts";

/** Notes with a length that is a number in one version, and text under another name in the next. */
function notesOf(version: 1 | 2): Projection {
  const table = pgTable(
    "memos",
    {
      sessionId: idText("session_id").notNull(),
      seq: safeBigint("seq").notNull(),
      size: version === 1 ? safeBigint("size") : text("size"),
    },
    (columns) => [
      primaryKey({
        name: "memos_pkey",
        columns: [columns.sessionId, columns.seq],
      }),
    ],
  );
  return defineProjection({
    name: "memos",
    version,
    tables: { table },
    handles: ["feedback/record"],
    init: () => ({}),
    apply(state, event, rows) {
      const { sessionId, seq } = event;
      const given = member(event.data, "text");
      const length = typeof given === "string" ? given.length : 0;
      const size = version === 1 ? length : `${length} characters`;
      rows.table.upsert({ sessionId, seq, size });
      return state;
    },
    views: [
      {
        name: "memos",
        select: (name) => `select session_id, seq, size from ${name("memos")}`,
      },
      ...(version === 1
        ? [
            {
              name: "old_memos",
              select: (name: (table: string) => string) =>
                `select session_id from ${name("memos")}`,
            },
          ]
        : []),
    ],
  });
}

const [first, second] = [notesOf(1), notesOf(2)];

/** A database whose live build of memos is version 1 and has a session of two notes. */
async function withMemos() {
  const fresh = await freshDatabase({ isEmpty: true });
  const { db, store } = fresh;
  await migrate(db);
  await ensureBuilds(db, [first]);
  const id = randomUUID();
  await store.append(id, [note("one"), note("three")], { expectedSeq: 0 });
  await foldFully(db, id, [first]);
  return { ...fresh, id };
}

async function sizes(db: Db): Promise<readonly unknown[]> {
  const rows = await db.rows<{ size: unknown }>({
    text: "select size from turnlog_read.memos order by session_id, seq",
  });
  return rows.map((row) => row.size);
}

describe("a deployment", () => {
  it("builds the new version beside the old one and swaps, though a column has another type and a view is gone", async () => {
    await using fresh = await withMemos();
    const { db } = fresh;
    const role = `reader_${randomUUID().replaceAll("-", "")}`;
    await db.rows({ text: `create role ${role}` });
    await db.rows({ text: `grant select on turnlog_read.memos to ${role}` });
    await db.rows({
      text: "comment on column turnlog_read.memos.seq is 'of the note'",
    });

    const done = await operator(db, [second]).deploy();

    expect(done.deployed).toEqual(["memos"]);
    expect(done.unfed).toEqual(["memos"]);
    expect(await sizes(db)).toEqual(["3 characters", "5 characters"]);
    const [may] = await db.rows(
      {
        text: `
          select has_table_privilege($1, 'turnlog_read.memos', 'select') as reads,
                 to_regclass('turnlog_read.old_memos') is null as is_gone`,
      },
      [role],
    );
    expect(may).toEqual({ reads: true, is_gone: true });
    await db.rows({ text: `drop owned by ${role}` });
    await db.rows({ text: `drop role ${role}` });
    await expectTidy(db);
  });

  it("has nothing to do where every version is live", async () => {
    await using fresh = await withMemos();

    const done = await operator(fresh.db, [first]).deploy();

    expect(done).toEqual({ deployed: [], result: null, unfed: [] });
  });

  it("makes the first build of a new projection too", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    await store.append(randomUUID(), [note("one")], { expectedSeq: 0 });

    await operator(db, [first]).deploy();

    expect(await sizes(db)).toEqual([3]);
  });

  it("leaves the new build to those who have its version, and the old one to the old workers", async () => {
    await using fresh = await withMemos();
    const { db, store, id } = fresh;
    await operator(db, [second]).deploy();
    await store.append(id, [note("seven..")], { expectedSeq: 2 });

    await foldFully(db, id, [first]);
    const before = await sizes(db);
    await foldFully(db, id, [second]);

    expect(before).toEqual(["3 characters", "5 characters"]);
    expect(await sizes(db)).toEqual([...before, "7 characters"]);
  });

  it("feeds in place of new workers until they are there", async () => {
    await using fresh = await withMemos();
    const { db, store, id } = fresh;
    const builds = operator(db, [second]);
    await builds.deploy();
    const feeding = builds.feedUntilWorkers({
      signal: AbortSignal.timeout(30_000),
    });
    await store.append(id, [note("seven..")], { expectedSeq: 2 });
    await db.rows(
      {
        text: "insert into turnlog.work (session_id, next_seq, ring_at, claimed_until) values ($1, 3, now(), now())",
      },
      [id],
    );
    while ((await sizes(db)).length < 3) await sleep(20);

    await announceWorker(db, randomUUID(), [second]);

    expect(await feeding).toEqual([]);
  });
});

describe("a rollback", () => {
  it("points the views back at the old version's build, with the views it had, once a worker has fed it", async () => {
    await using fresh = await withMemos();
    const { db, store, id } = fresh;
    await operator(db, [second]).deploy();
    await store.append(id, [note("seven..")], { expectedSeq: 2 });
    const worker = randomUUID();
    await announceWorker(db, worker, [first]);

    const rolling = operator(db, [second]).rollback(["memos"]);
    while ((await workOf(db, id)) === null) await sleep(10);
    await foldFully(db, id, [first]);
    const live = await rolling;

    expect(live).toMatchObject([{ projection: "memos", version: 1 }]);
    expect(await sizes(db)).toEqual([3, 5, 7]);
    const [old] = await db.rows({
      text: "select count(*) as rows from turnlog_read.old_memos",
    });
    expect(old).toEqual({ rows: 3 });
    expect(
      (await buildStates(db)).map(({ version, status }) => [version, status]),
    ).toEqual([
      [1, "live"],
      [2, "kept"],
    ]);
  });

  it("is refused where no running projector has the old version, or none any more", async () => {
    await using fresh = await withMemos();
    const { db } = fresh;
    await operator(db, [second]).deploy();
    const worker = randomUUID();
    await announceWorker(db, worker, [second]);
    const rolling = () => operator(db, [second]).rollback(["memos"]);

    await expect(rolling()).rejects.toBeInstanceOf(BuildUnfedError);
    await announceWorker(db, worker, [first]);
    await retireWorker(db, worker);
    await expect(rolling()).rejects.toBeInstanceOf(BuildUnfedError);

    expect(await sizes(db)).toEqual(["3 characters", "5 characters"]);
  });

  it("waits for a projector that folds an erased session anew", async () => {
    await using fresh = await withMemos();
    const { db, id } = fresh;
    await operator(db, [second]).deploy();
    await announceWorker(db, randomUUID(), [first]);
    await db.rows(
      {
        text: "update turnlog.sessions set redaction_generation = redaction_generation + 1 where session_id = $1",
      },
      [id],
    );
    const rollback = (waitMs: number) =>
      operator(db, [second]).rollback(["memos"], { waitMs });

    await expect(rollback(100)).rejects.toMatchObject({ code: "BUILD_LOCKED" });
    await foldFully(db, id, [first]);
    await rollback(5_000);

    expect(await sizes(db)).toEqual([3, 5]);
  });

  it("needs a kept build, and a drop takes it away", async () => {
    await using fresh = await withMemos();
    const { db } = fresh;
    const builds = operator(db, [second]);
    await expect(builds.rollback(["memos"])).rejects.toBeInstanceOf(
      BuildNotFoundError,
    );
    await builds.deploy();

    await builds.drop(["memos"]);

    await expect(builds.rollback(["memos"])).rejects.toBeInstanceOf(
      BuildNotFoundError,
    );
    await expect(builds.drop(["memos"])).rejects.toBeInstanceOf(
      BuildNotFoundError,
    );
    await expectTidy(db);
  });
});

describe("a kept build", () => {
  it("keeps no work waiting when nobody has its version any more", async () => {
    await using fresh = await withMemos();
    const { db, store, id } = fresh;
    await operator(db, [second]).deploy();
    await store.append(id, [note("seven..")], { expectedSeq: 2 });
    await db.rows(
      {
        text: "insert into turnlog.work (session_id, next_seq, ring_at, claimed_until) values ($1, 3, now(), now())",
      },
      [id],
    );
    const worker = randomUUID();
    await announceWorker(db, worker, [first]);
    await foldFully(db, id, [second]);
    const whileFed = await workOf(db, id);

    await retireWorker(db, worker);
    await foldFully(db, id, [second]);

    expect(whileFed).toBe(3);
    expect(await workOf(db, id)).toBeNull();
  });
});

describe("one session", () => {
  it("is rebuilt in the live build, and taken off the parked ones", async () => {
    await using fresh = await withMemos();
    const { db, id } = fresh;
    const [live] = await buildStates(db);
    await db.rows({
      text: `update turnlog_b${live?.number}.memos set size = 0`,
    });
    await db.rows({
      text: "update turnlog.checkpoints set parked_at = now(), attempts = 8",
    });

    await operator(db, [first]).rebuildSession(["memos"], id);

    expect(await sizes(db)).toEqual([3, 5]);
    const [left] = await db.rows({
      text: "select attempts, parked_at from turnlog.checkpoints",
    });
    expect(left).toEqual({ attempts: 0, parked_at: null });
  });

  it("that is not stored is an error", async () => {
    await using fresh = await withMemos();

    await expect(
      operator(fresh.db, [first]).rebuildSession(["memos"], "nobody"),
    ).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });
});
