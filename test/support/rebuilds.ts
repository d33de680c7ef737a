/** Rebuilds in this process, and what they leave in the control tables and the catalog. */
import { expect } from "vitest";
import { buildsOver, type Builds } from "../../src/builds/operator.ts";
import type { Db } from "../../src/db/connect.ts";
import { silentLogger } from "../../src/logger.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import type { Projection } from "../../src/projector/projection.ts";

export const ALL = builtInProjections.map(({ name }) => name);

/** What an operator has, over a test's database. */
export function operator(
  db: Db,
  projections: readonly Projection[] = builtInProjections,
): Builds {
  return buildsOver(db, { projections, logger: silentLogger });
}

export interface BuildState {
  readonly number: number;
  readonly projection: string;
  readonly version: number;
  readonly status: string;
}

export function buildStates(db: Db): Promise<BuildState[]> {
  return db.rows<BuildState>({
    text: "select number, projection, version, status from turnlog.builds order by number",
  });
}

/** Everything of a build's tables that is in the catalog, without its number. */
export function structureOf(db: Db, build: number): Promise<object[]> {
  return db.rows(
    {
      text: `
        select c.relname as table, c.relkind::text as kind, c.relpersistence::text as persistence, c.reloptions::text as options,
               (select jsonb_agg(jsonb_build_array(a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, l.collname) order by a.attnum)
                from pg_attribute a left join pg_collation l on l.oid = a.attcollation
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
               (select jsonb_agg(jsonb_build_array(k.conname, pg_get_constraintdef(k.oid)) order by k.conname)
                from pg_constraint k where k.conrelid = c.oid) as constraints,
               (select jsonb_agg(jsonb_build_array(replace(pg_get_indexdef(i.indexrelid), n.nspname, 'b'), i.indisvalid) order by i.indexrelid::regclass::text)
                from pg_index i where i.indrelid = c.oid) as indexes
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = 'turnlog_b' || $1::integer and c.relkind = 'r'
        order by c.relname`,
    },
    [build],
  );
}

/** Live builds, checkpoints, grants, views and indexes: what a rebuild that is cancelled must leave as it was. */
export async function liveState(db: Db): Promise<object> {
  const live = (await buildStates(db)).filter(
    ({ status }) => status === "live",
  );
  const checkpoints = await db.rows(
    {
      text: "select * from turnlog.checkpoints where build = any($1) order by session_id, build",
    },
    [live.map(({ number }) => number)],
  );
  const views = await db.rows({
    text: `
      select c.relname, c.relacl::text, c.reloptions::text, pg_get_viewdef(c.oid) as definition
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'turnlog_read' order by 1`,
  });
  const schemas = await db.rows(
    {
      text: `
        select nspname, nspacl::text from pg_namespace
        where nspname in ('turnlog', 'turnlog_read') or nspname = any($1)
        order by 1`,
    },
    [live.map(({ number }) => `turnlog_b${number}`)],
  );
  const structures = [];
  for (const { number } of live) structures.push(await structureOf(db, number));
  return { live, checkpoints, views, schemas, structures };
}

/** No build but live and kept ones, and no checkpoint of a build that is over. */
export async function expectTidy(db: Db): Promise<void> {
  const [left] = await db.rows({
    text: `
      select (select count(*) from turnlog.builds where status not in ('live', 'kept')) as unfinished,
             (select count(*) from turnlog.checkpoints c where not exists (select from turnlog.builds b where b.number = c.build)) as checkpoints,
             (select count(*) from pg_namespace n where n.nspname ~ '^turnlog_b[0-9]+$'
                and not exists (select from turnlog.builds b where n.nspname = 'turnlog_b' || b.number)) as schemas`,
  });
  expect(left).toEqual({ unfinished: 0, checkpoints: 0, schemas: 0 });
}
