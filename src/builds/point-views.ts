/** Points read views at another build, inside the transaction of a swap. */
import { sql } from "drizzle-orm";
import type { Tx } from "../db/connect.ts";
import { sqlState } from "../db/pg-errors.ts";
import { BuildLockedError } from "../errors.ts";
import { buildSchema } from "../projector/open-session.ts";
import type { Projection } from "../projector/projection.ts";
import { readViewGrants } from "./grants.ts";

/** A read view as it is to be: the text of its query, and comments by column, the view's own under the empty name. */
export interface ViewDefinition {
  readonly name: string;
  readonly definition: string;
  readonly comments: Readonly<Record<string, string>>;
}

/** Columns of the view differ in name, order or type: it can't be replaced in place. */
const INVALID_TABLE_DEFINITION = "42P16";
const DEPENDENT_OBJECTS = "2BP01";

/** The views that a projection defines, over the tables of a build. */
export function viewsOf(
  projection: Projection,
  build: number,
): readonly ViewDefinition[] {
  return projection.views.map((view) => ({
    name: view.name,
    definition: view.select((table) => `${buildSchema(build)}.${table}`),
    comments: {
      ...(view.about === undefined ? {} : { "": view.about }),
      ...view.columns,
    },
  }));
}

/** The read views that stand on the tables of a build, as they are now. */
export async function readViews(
  tx: Pick<Tx, "rows">,
  build: number,
): Promise<readonly ViewDefinition[]> {
  const rows = await tx.rows<{
    name: string;
    definition: string;
    comments: Record<string, string>;
  }>(
    {
      text: `
        select v.relname as name, pg_get_viewdef(v.oid) as definition,
               coalesce((
                 select jsonb_object_agg(coalesce(a.attname, ''), d.description)
                 from pg_description d
                 left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
                 where d.objoid = v.oid and d.classoid = 'pg_class'::regclass), '{}') as comments
        from pg_class v
        join pg_namespace n on n.oid = v.relnamespace and n.nspname = 'turnlog_read'
        where v.relkind = 'v'
          and exists (
            select
            from pg_rewrite r
            join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
            join pg_class t on t.oid = d.refobjid
            join pg_namespace b on b.oid = t.relnamespace
            where r.ev_class = v.oid and b.nspname = $1)
        order by v.relname`,
    },
    [buildSchema(build)],
  );
  return rows;
}

/**
 * Points views at their new queries, by name, so that two swaps and their readers can't wait for each other in a circle;
 * then drops those that have none any more. A view whose columns change in name or type is dropped and made again, with
 * its owner, settings and grants.
 * Locks: access exclusive on each view; not on the tables under it.
 * @throws BuildLockedError when other views depend on one that must be dropped
 */
export async function pointViews(
  tx: Tx,
  views: readonly ViewDefinition[],
  gone: readonly string[],
): Promise<void> {
  for (const view of views.toSorted((a, b) => (a.name < b.name ? -1 : 1)))
    await pointView(tx, view);
  for (const name of gone.toSorted()) await dropView(tx, name);
}

async function pointView(tx: Tx, view: ViewDefinition): Promise<void> {
  const name = sql`turnlog_read.${sql.identifier(view.name)}`;
  const query = sql.raw(view.definition);
  await tx.rows({ text: "savepoint turnlog_view" });
  try {
    await tx.orm.execute(sql`create or replace view ${name} as ${query}`);
  } catch (error) {
    if (sqlState(error) !== INVALID_TABLE_DEFINITION) throw error;
    await tx.rows({ text: "rollback to savepoint turnlog_view" });
    const grants = await readViewGrants(tx, view.name);
    await dropView(tx, view.name);
    await tx.orm.execute(sql`create view ${name} as ${query}`);
    const columns = await readColumns(tx, view.name);
    for (const { text, column_name: column } of grants)
      if (column === null || columns.has(column)) await tx.rows({ text });
  }
  await tx.rows({ text: "release savepoint turnlog_view" });
  for (const [column, comment] of Object.entries(view.comments))
    await tx.orm.execute(
      column === ""
        ? sql`comment on view ${name} is ${literal(comment)}`
        : sql`comment on column ${name}.${sql.identifier(column)} is ${literal(comment)}`,
    );
}

async function dropView(tx: Tx, name: string): Promise<void> {
  try {
    await tx.orm.execute(
      sql`drop view if exists turnlog_read.${sql.identifier(name)}`,
    );
  } catch (error) {
    if (sqlState(error) !== DEPENDENT_OBJECTS) throw error;
    throw new BuildLockedError(
      `The columns of the view turnlog_read.${name} change, and views of yours depend on it. ` +
        `Drop those, run the same command again, and make them again.`,
    );
  }
}

async function readColumns(tx: Tx, view: string): Promise<ReadonlySet<string>> {
  const rows = await tx.rows<{ name: string }>(
    {
      text: `
        select attname as name
        from pg_attribute
        where attrelid = format('turnlog_read.%I', $1::text)::regclass and attnum > 0 and not attisdropped`,
    },
    [view],
  );
  return new Set(rows.map(({ name }) => name));
}

/** Comments can't be parameters: their quotes are doubled. */
function literal(text: string) {
  return sql.raw(`'${text.replaceAll("'", "''")}'`);
}
