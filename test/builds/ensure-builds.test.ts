import { randomUUID } from "node:crypto";
import { getTableColumns } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import type { Db } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import type { Projection } from "../../src/projector/projection.ts";
import { appendLog } from "../support/append-log.ts";
import { liveRows } from "../support/build-rows.ts";
import { freshDatabase, useTestDatabase } from "../support/database.ts";
import { ours } from "../support/derived.ts";
import { deltas, note, notes } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";
import { notesProjection } from "../support/projector-notes.ts";
import { exampleLog, foldFully } from "../support/projector-steps.ts";
import { pureFold } from "../support/pure-fold.ts";
import {
  appendIn,
  openTransaction,
} from "../support/relay-open-transaction.ts";
import {
  connectAs,
  lead,
  workOf,
  untilBlocked,
} from "../support/relay-steps.ts";

const database = useTestDatabase();

function builds(db: Db): Promise<object[]> {
  return db.rows({
    text: "select number, projection, version, status from turnlog.builds order by number",
  });
}

/** Sessions on the work list. */
async function working(db: Db): Promise<readonly string[]> {
  const rows = await db.rows<{ session_id: string }>({
    text: "select session_id from turnlog.work order by session_id",
  });
  return rows.map((row) => row.session_id);
}

/** Name of a table of a projection's build. */
async function relation(
  projection: Projection,
  table: string,
): Promise<string> {
  const [row] = await database().db.rows<{ number: number }>(
    { text: "select number from turnlog.builds where projection = $1" },
    [projection.name],
  );
  return `turnlog_b${row?.number}.${table}`;
}

describe("the first builds", () => {
  it("are one live build for each projection, in a database that has only the log", async () => {
    await using fresh = await freshDatabase({ isEmpty: true });
    const { db } = fresh;
    await migrate(db);

    const made = await ensureBuilds(db, builtInProjections);

    expect(made).toEqual(builtInProjections.map(({ name }) => name));
    expect(await builds(db)).toEqual(
      builtInProjections.map(({ name, version }, at) => ({
        number: at + 1,
        projection: name,
        version,
        status: "live",
      })),
    );
  });

  it("are not made again", async () => {
    const { db } = database();
    const before = await builds(db);

    expect(await ensureBuilds(db, builtInProjections)).toEqual([]);

    expect(await builds(db)).toEqual(before);
    expect(await working(db)).toEqual([]);
  });

  it("are made once though several processes make them at once", async () => {
    await using fresh = await freshDatabase({ isEmpty: true });
    await migrate(fresh.db);
    const processes = [0, 1, 2, 3].map((at) =>
      connectAs(fresh.url, `maker-${at}`),
    );

    const made = await Promise.all(
      processes.map((db) => ensureBuilds(db, builtInProjections)),
    );

    expect(made.flat()).toEqual(builtInProjections.map(({ name }) => name));
    expect(await builds(fresh.db)).toHaveLength(builtInProjections.length);
    for (const db of processes) await db.close();
  });

  it("leave nothing behind when one of them can't be made", async () => {
    const { db } = database();
    const before = await builds(db);
    const [messages] = builtInProjections;
    const good = notesProjection("good");
    const bad = {
      ...notesProjection("bad"),
      views: [{ name: "bad", select: () => "select nonsense" }],
    };

    await expect(
      ensureBuilds(db, [messages ?? good, good, bad]),
    ).rejects.toThrow("nonsense");

    expect(await builds(db)).toEqual(before);
  });

  it.each(
    builtInProjections.flatMap(({ views }) => views.map(({ name }) => name)),
  )("answer in the view %s", async (view) => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    await appendLog(store, exampleLog("04-compaction.jsonl"), 500);
    await catchUp(db);

    const [row] = await db.rows<{ count: number }>({
      text: `select count(*) from turnlog_read.${view}`,
    });

    expect(row?.count).toBeGreaterThan(0);
  });
});

describe("a projection that comes to a database with sessions", () => {
  it("is filled by the ordinary path", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const logs = [
      await appendLog(store, exampleLog("03-retried-request.jsonl"), 30),
      await appendLog(store, exampleLog("04-compaction.jsonl"), 30),
    ];
    const id = randomUUID();
    await store.append(id, notes(3), { expectedSeq: 0 });
    await catchUp(db);
    const late = notesProjection("late");
    const all = [...builtInProjections, late];

    expect(await ensureBuilds(db, all)).toEqual(["late"]);

    const ids = [id, ...logs.map(({ header }) => header.id)];
    expect(await working(db)).toEqual(ids.toSorted());
    for (const sessionId of ids) await foldFully(db, sessionId, all);
    expect(await working(db)).toEqual([]);
    expect((await liveRows(db, late, id))["note_lines"]).toHaveLength(3);
    for (const log of logs) {
      const { header, events } = ours(log);
      expect(await liveRows(db, late, header.id)).toEqual(
        pureFold(late, header, events),
      );
    }
  });

  it("does not wait for sessions that hold nothing but deltas, or that are deleted", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const [streaming, deleted] = [randomUUID(), randomUUID()];
    await appendIn(db, streaming, deltas(["a"]), 0);
    await store.append(deleted, notes(1), { expectedSeq: 0 });
    await db.rows(
      {
        text: "update turnlog.sessions set deleted_at = now() where session_id = $1",
      },
      [deleted],
    );

    await ensureBuilds(db, [...builtInProjections, notesProjection("late")]);

    expect(await working(db)).toEqual([]);
  });

  it("gets the sessions too that are made, folded and done while its build is being made", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const leader = await lead(db);
    const [old, young] = [randomUUID(), randomUUID()];
    await store.append(old, [note("old")], { expectedSeq: 0 });
    await leader.drain();
    await foldFully(db, old);
    const late = notesProjection("late");
    const all = [...builtInProjections, late];
    await using tx = await openTransaction(db);
    await tx.rows(
      {
        text: `
          insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
          values ($1, 1, clock_timestamp(), clock_timestamp())`,
      },
      [old],
    );
    const making = ensureBuilds(db, all);
    await untilBlocked(db, 1);
    await store.append(young, [note("young")], { expectedSeq: 0 });
    await leader.drain();
    await foldFully(db, young, all);
    await tx.rollback();
    await making;

    for (const id of await working(db)) await foldFully(db, id, all);

    expect(await workOf(db, old)).toBeNull();
    expect((await liveRows(db, late, old))["note_lines"]).toHaveLength(1);
    expect((await liveRows(db, late, young))["note_lines"]).toHaveLength(1);
  });
});

describe("the tables of a build", () => {
  const tables = builtInProjections.flatMap((projection) =>
    projection.tables.map(
      (table) => [getTableConfig(table).name, projection, table] as const,
    ),
  );

  it.each(tables)(
    "%s have the columns of its definition",
    async (name, projection, table) => {
      const columns = await database().db.rows(
        {
          text: `
            select a.attname as name, a.attnotnull as not_null,
                   format_type(a.atttypid, a.atttypmod)
                   || case when c.collname = 'C' then ' collate "C"' else '' end as type
            from pg_attribute a
            left join pg_collation c on c.oid = a.attcollation
            where a.attrelid = $1::regclass and a.attnum > 0
            order by a.attnum`,
        },
        [await relation(projection, name)],
      );

      expect(columns).toEqual(
        Object.values(getTableColumns(table)).map((column) => ({
          name: column.name,
          not_null: column.notNull,
          type: column.getSQLType(),
        })),
      );
    },
  );

  it.each(tables)(
    "%s have the key of its definition, and it begins with the session",
    async (name, projection, table) => {
      const keys = await database().db.rows(
        {
          text: `
            select c.conname as name, pg_get_constraintdef(c.oid) as definition
            from pg_constraint c
            where c.conrelid = $1::regclass and c.contype <> 'n'`,
        },
        [await relation(projection, name)],
      );

      const [key] = getTableConfig(table).primaryKeys;
      const columns = key?.columns.map((column) => column.name) ?? [];
      expect(keys).toEqual([
        {
          name: key?.getName(),
          definition: `PRIMARY KEY (${columns.join(", ")})`,
        },
      ]);
      expect(columns[0]).toBe("session_id");
    },
  );

  it.each(tables)(
    "%s have the indexes of its definition",
    async (name, projection, table) => {
      const indexes = await database().db.rows<{ name: string }>(
        {
          text: `
            select c.relname as name
            from pg_index i
            join pg_class c on c.oid = i.indexrelid
            where i.indrelid = $1::regclass and not i.indisprimary
            order by 1`,
        },
        [await relation(projection, name)],
      );

      const names = getTableConfig(table).indexes.map(
        ({ config }) => config.name ?? "",
      );
      expect(indexes.map((index) => index.name)).toEqual(
        names.toSorted((a, b) => (a < b ? -1 : 1)),
      );
    },
  );
});
