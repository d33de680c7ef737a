import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { documentedViews } from "../../scripts/read-views.ts";
import { buildTables, buildViews } from "../../src/builds/build-ddl.ts";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import type { Db } from "../../src/db/connect.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { usage } from "../../src/projections/usage/projection.ts";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { catchUp } from "../support/pipeline.ts";
import { exampleLog, schemaOf } from "../support/projector-steps.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";

const database = useTestDatabase();

beforeAll(async () => {
  const { db, store } = database();
  await appendLog(store, exampleLog("03-retried-request.jsonl"), 500);
  await catchUp(db);
});

/** Every read view: its query, its comments. */
function catalog(db: Db): Promise<object[]> {
  return db.rows({
    text: `
      select v.relname, pg_get_viewdef(v.oid) as query,
             (select json_agg(json_build_array(d.objsubid, d.description) order by d.objsubid)
              from pg_description d where d.objoid = v.oid and d.classoid = 'pg_class'::regclass) as comments
      from pg_class v
      where v.relnamespace = 'turnlog_read'::regnamespace
      order by v.relname`,
  });
}

/** The views as an earlier release had them: some missing, one with fewer columns, none with a comment. */
async function makeOlder(db: Db): Promise<void> {
  const statements = [
    "drop view turnlog_read.session_totals, turnlog_read.usage_by_day, turnlog_read.usage_by_model",
    "drop view turnlog_read.events, turnlog_read.projection_status, turnlog_read.parked",
    "drop view turnlog_read.token_stats",
    `create view turnlog_read.token_stats as
     select session_id, provider, model, count(*) filter (where not inherited) as request_count
     from ${await schemaOf(db, usage.name)}.usage group by session_id, provider, model`,
    "grant select on turnlog_read.token_stats to pg_monitor",
    "comment on view turnlog_read.messages is null",
    "comment on column turnlog_read.titles.source is 'older'",
  ];
  for (const text of statements) await db.rows({ text });
}

describe("a database of an earlier release", () => {
  it("gets the views of this one, while readers see one or the other", async () => {
    const { db } = database();
    const fresh = await catalog(db);
    await makeOlder(db);
    const reading = { isOver: false, reads: 0 };
    const reader = async (): Promise<void> => {
      for (; !reading.isOver; reading.reads += 1)
        await db.rows({
          text: "select t.request_count, m.text from turnlog_read.token_stats t join turnlog_read.messages m using (session_id)",
        });
    };
    const readers = [reader(), reader()];

    expect(await ensureBuilds(db, builtInProjections)).toEqual([]);

    reading.isOver = true;
    await Promise.all(readers);
    expect(reading.reads).toBeGreaterThan(0);
    expect(await catalog(db)).toEqual(fresh);
    const [grant] = await db.rows<{ is_kept: boolean }>({
      text: "select has_table_privilege('pg_monitor', 'turnlog_read.token_stats', 'select') as is_kept",
    });
    expect(grant?.is_kept).toBe(true);
  });

  it("is waited for when somebody reads a view for a while", async () => {
    const { db } = database();
    const fresh = await catalog(db);
    await makeOlder(db);
    await using tx = await openTransaction(db);
    await tx.rows({ text: "select from turnlog_read.token_stats" });

    const making = ensureBuilds(db, builtInProjections);
    await sleep(300);
    const [other] = await db.rows<{ rows: number }>({
      text: "select count(*) as rows from turnlog_read.token_stats",
    });
    await tx.rollback();
    await making;

    expect(other?.rows).toBeGreaterThan(0);
    expect(await catalog(db)).toEqual(fresh);
  });
});

describe("views that are as the code says", () => {
  it("are not touched", async () => {
    const { db } = database();
    const stamps = () =>
      db.rows({
        text: `
          select v.relname, v.xmin::text, r.xmin::text as rule
          from pg_class v join pg_rewrite r on r.ev_class = v.oid
          where v.relnamespace = 'turnlog_read'::regnamespace order by 1`,
      });
    const before = await stamps();

    await ensureBuilds(db, builtInProjections);

    expect(await stamps()).toEqual(before);
  });

  it("keep the columns that a later release gave them", async () => {
    const { db } = database();
    const schema = await schemaOf(db, usage.name);
    const [view] = usage.views;
    const query = view?.select((table) => `${schema}.${table}`) ?? "";
    await db.rows({
      text: `create or replace view turnlog_read.usage as select u.*, 1 as later from (${query}) u`,
    });
    const before = await catalog(db);

    await ensureBuilds(db, builtInProjections);

    expect(await catalog(db)).toEqual(before);
    await db.rows({ text: "drop view turnlog_read.usage cascade" });
  });

  it("are made again, with those that stood on them, when they were dropped", async () => {
    const { db } = database();
    await ensureBuilds(db, builtInProjections);
    const fresh = await catalog(db);
    await db.rows({ text: "drop view turnlog_read.usage cascade" });

    await ensureBuilds(db, builtInProjections);

    expect(await catalog(db)).toEqual(fresh);
    expect(fresh).toHaveLength(documentedViews().length);
  });
});

describe("views over another build", () => {
  it("show its rows, those that stand on other views too", async () => {
    const { db } = database();
    const live = await schemaOf(db, usage.name);
    await db.transaction(async (tx) => {
      for (const statement of buildTables(usage, 901))
        await tx.orm.execute(statement);
      await tx.rows({
        text: `insert into turnlog_b901.usage select * from ${live}.usage`,
      });
      await tx.rows({
        text: "update turnlog_b901.usage set input_tokens = 1000000",
      });
      for (const statement of buildViews(usage, 901))
        await tx.orm.execute(statement);
    });

    const [row] = await db.rows<Record<string, number>>({
      text: `
        select (select sum(own_tokens)::bigint from turnlog_read.session_totals) as by_session,
               (select sum(total_tokens)::bigint from turnlog_read.usage_by_model) as by_model,
               (select sum(total_tokens)::bigint from turnlog_read.usage_by_day) as by_day`,
    });

    expect(row?.["by_session"]).toBeGreaterThan(1_000_000);
    expect(row?.["by_model"]).toBe(row?.["by_session"]);
    expect(row?.["by_day"]).toBe(row?.["by_session"]);
  });
});
