/** Brings the read views up to what the code says, for a database that an earlier release made. */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { SQL } from "drizzle-orm";
import type { Db, Queryable, Tx } from "../db/connect.ts";
import { isTransient } from "../db/pg-errors.ts";
import { ViewLockedError } from "../errors.ts";
import { buildSchema } from "../projector/open-session.ts";
import type { Projection, ReadView } from "../projector/projection.ts";
import { viewStatements } from "./build-ddl.ts";
import { storeViews } from "./store-views.ts";

/** A read view, and what its query calls the tables it is over. */
interface PlacedView {
  readonly view: ReadView;
  readonly table: (name: string) => string;
}

interface ViewFacts {
  readonly columns: readonly string[];
  /** As Postgres writes it. */
  readonly query: string;
  /** By column, the view's own under the empty name. */
  readonly comments: Readonly<Record<string, string>>;
}

const TRIES = 100;
const LONGEST_PAUSE_MS = 200;

/**
 * Makes the views that are missing: those of the store, and those of projections whose live build is of the version at
 * hand. Replaces the ones that differ, in place, so that grants stay and readers see one or the other; they wait 100 ms
 * at most. Leaves alone what a later release gave more columns, and the views of builds of other versions.
 * Locks: for each view that differs, in a transaction of its own, advisory (7486, 0), then the view, access exclusive.
 * @throws ViewLockedError VIEW_LOCKED when somebody reads a view for longer than about twenty seconds
 */
export async function refreshViews(
  db: Db,
  projections: readonly Projection[],
): Promise<void> {
  // One after the other: a view may stand on one before it.
  for (const placed of await placedViews(db, projections))
    if (await db.transaction((tx) => isStale(tx, placed)))
      await replaceView(db, placed);
}

async function placedViews(
  db: Queryable,
  projections: readonly Projection[],
): Promise<readonly PlacedView[]> {
  const builds = await db.rows<{
    number: number;
    projection: string;
    version: number;
  }>({
    text: "select number, projection, version from turnlog.builds where status = 'live'",
  });
  const ofBuilds = projections.flatMap(({ name, version, views }) =>
    builds
      .filter((build) => build.projection === name && build.version === version)
      .flatMap(({ number }) =>
        views.map((view) => ({
          view,
          table: (table: string) => `${buildSchema(number)}.${table}`,
        })),
      ),
  );
  const ofStore = storeViews.map((view) => ({
    view,
    table: (table: string) => table,
  }));
  return [...ofBuilds, ...ofStore];
}

/** Makes the view under another name, looks at both, and takes it back: so that Postgres says whether they are the same. */
async function isStale(tx: Tx, { view, table }: PlacedView): Promise<boolean> {
  const next = { ...view, name: `${view.name} (next)` };
  const found = await readView(tx, view.name);
  await tx.rows({ text: "savepoint turnlog_next_view" });
  await runAll(tx, viewStatements(next, table));
  const wanted = await readView(tx, next.name);
  await tx.rows({ text: "rollback to savepoint turnlog_next_view" });
  if (found === null || wanted === null) return true;
  const isOfLaterRelease =
    found.columns.length > wanted.columns.length &&
    wanted.columns.every((column, at) => column === found.columns[at]);
  return !isOfLaterRelease && !isDeepStrictEqual(found, wanted);
}

async function readView(tx: Tx, name: string): Promise<ViewFacts | null> {
  const [row] = await tx.rows<ViewFacts>(
    {
      text: `
        select pg_get_viewdef(v.oid) as query,
               (select json_agg(a.attname order by a.attnum) from pg_attribute a
                where a.attrelid = v.oid and a.attnum > 0) as columns,
               coalesce((
                 select json_object_agg(coalesce(a.attname, ''), d.description order by d.objsubid)
                 from pg_description d
                 left join pg_attribute a on a.attrelid = d.objoid and a.attnum = d.objsubid and d.objsubid > 0
                 where d.objoid = v.oid and d.classoid = 'pg_class'::regclass), '{}') as comments
        from pg_class v
        where v.relnamespace = 'turnlog_read'::regnamespace and v.relname = $1`,
    },
    [name],
  );
  return row ?? null;
}

async function replaceView(db: Db, { view, table }: PlacedView): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await db.transaction(async (tx) => {
        await tx.rows({ text: "select pg_advisory_xact_lock(7486, 0)" });
        await tx.rows({ text: "set local lock_timeout = '100ms'" });
        await runAll(tx, viewStatements(view, table));
      });
      return;
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (tries === TRIES)
        throw new ViewLockedError(view.name, { cause: error });
      await sleep(Math.min(tries * 20, LONGEST_PAUSE_MS));
    }
  }
}

async function runAll(tx: Tx, statements: readonly SQL[]): Promise<void> {
  for (const statement of statements) await tx.orm.execute(statement);
}
