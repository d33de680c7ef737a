/** Ends builds that are not live: their tables are dropped, their numbers are never given again. */
import { sql } from "drizzle-orm";
import type { Db, Tx } from "../db/connect.ts";
import { sqlState } from "../db/pg-errors.ts";
import { BuildLockedError, BuildNotFoundError } from "../errors.ts";
import { buildSchema } from "../projector/open-session.ts";
import { lockBuilds } from "./add-build.ts";
import { withLockRetries } from "./lock-retries.ts";

/** Checkpoints of a transaction that clears them. */
const PORTION = 10_000;

export interface EndedBuild {
  readonly build: number;
  readonly projection: string;
  readonly version: number;
}

/**
 * Ends a rebuild that is not done: its builds are gone, everything else is as it was before it began. Processes that work
 * on it stop at their next chunk.
 * Locks, in order: advisory (7486, 0), then (7486, number) of each build, exclusively; then tables of the builds.
 * @param rebuild null for the one that is under way, if there is just one
 * @throws BuildNotFoundError when there is none; BuildLockedError when somebody reads the tables for long
 */
export async function cancelRebuild(
  db: Db,
  rebuild: number | null,
): Promise<{
  readonly rebuild: number;
  readonly builds: readonly EndedBuild[];
}> {
  const number = rebuild ?? (await onlyRebuild(db));
  const builds = await withLockRetries(db, async (tx) => {
    await lockBuilds(tx);
    const rows = await tx.rows<{ step: string }>(
      {
        text: `
          update turnlog.rebuilds
          set step = 'cancelled', ended_at = now(), trouble = null
          where number = $1 and step not in ('done', 'cancelled')
          returning step`,
      },
      [number],
    );
    if (rows.length === 0)
      throw new BuildNotFoundError(
        `Rebuild ${number} is not under way, so it can't be cancelled. See: turnlog builds`,
      );
    return endBuilds(
      tx,
      await tx.rows<EndedBuild>(
        {
          text: "select number as build, projection, version from turnlog.builds where rebuild = $1 and status in ('building', 'feeding') order by number",
        },
        [number],
      ),
      "cancelled",
    );
  });
  await clearCheckpoints(db);
  return { rebuild: number, builds };
}

/**
 * Drops the kept builds of projections, after which there is nothing to roll back to. Locks: as `cancelRebuild`.
 * @throws BuildNotFoundError when one of them has none; BuildLockedError when somebody reads the tables for long
 */
export async function dropKept(
  db: Db,
  projections: readonly string[],
): Promise<readonly EndedBuild[]> {
  const ended = await withLockRetries(db, async (tx) => {
    await lockBuilds(tx);
    const kept = await readKept(tx, projections);
    for (const name of projections)
      if (!kept.some(({ projection }) => projection === name))
        throw new BuildNotFoundError(
          `${name} has no kept build to drop. See: turnlog builds`,
        );
    return endBuilds(tx, kept, "dropped");
  });
  await clearCheckpoints(db);
  return ended;
}

/** Kept builds of projections, the latest first. */
export function readKept(
  db: Pick<Tx, "rows">,
  projections: readonly string[],
): Promise<EndedBuild[]> {
  return db.rows<EndedBuild>(
    {
      text: `
        select number as build, projection, version
        from turnlog.builds
        where status = 'kept' and projection = any($1::text[])
        order by live_at desc, number desc`,
    },
    [projections],
  );
}

/** Drops what was kept before the builds that were live until now: there is one to roll back to. */
export async function dropOlderKept(
  db: Db,
  projections: readonly string[],
): Promise<readonly EndedBuild[]> {
  const ended = await withLockRetries(db, async (tx) => {
    await lockBuilds(tx);
    const kept = await readKept(tx, projections);
    const older = kept.filter(
      (build, at) =>
        kept.findIndex(({ projection }) => projection === build.projection) <
        at,
    );
    return endBuilds(tx, older, "dropped");
  });
  if (ended.length > 0) await clearCheckpoints(db);
  return ended;
}

async function onlyRebuild(db: Db): Promise<number> {
  const rows = await db.rows<{ number: number }>({
    text: "select number from turnlog.rebuilds where step not in ('done', 'cancelled') order by number",
  });
  const [first, second] = rows;
  if (first === undefined)
    throw new BuildNotFoundError(
      "No rebuild is under way, so there is nothing to cancel.",
    );
  if (second !== undefined)
    throw new BuildNotFoundError(
      `Rebuilds ${rows.map(({ number }) => number).join(" and ")} are under way. Name the one to cancel.`,
    );
  return first.number;
}

/** No projector is at work on them any more once their locks are had, and none begins. */
async function endBuilds(
  tx: Tx,
  builds: readonly EndedBuild[],
  outcome: "cancelled" | "dropped",
): Promise<readonly EndedBuild[]> {
  const numbers = builds.map(({ build }) => build).toSorted((a, b) => a - b);
  for (const number of numbers)
    await tx.rows({ text: "select pg_advisory_xact_lock(7486, $1)" }, [number]);
  for (const number of numbers) await dropTables(tx, number);
  await tx.rows(
    {
      text: `
        with gone as (
          delete from turnlog.builds where number = any($1::integer[])
          returning number, projection, version, created_at, rebuild
        ), views as (
          delete from turnlog.build_views where build = any($1::integer[])
        ), failing as (
          delete from turnlog.checkpoints
          where build = any($1::integer[]) and (next_at is not null or parked_at is not null)
        )
        insert into turnlog.former_builds (number, projection, version, outcome, created_at, rebuild)
        select number, projection, version, $2, created_at, rebuild from gone`,
    },
    [numbers, outcome],
  );
  return builds;
}

/** Without cascade: what somebody else has built on the tables is not ours to drop. */
async function dropTables(tx: Tx, build: number): Promise<void> {
  const schema = buildSchema(build);
  const tables = await tx.rows<{ name: string }>(
    {
      text: "select tablename as name from pg_tables where schemaname = $1 order by 1",
    },
    [schema],
  );
  try {
    for (const { name } of tables)
      await tx.orm.execute(
        sql`drop table ${sql.identifier(schema)}.${sql.identifier(name)}`,
      );
    await tx.orm.execute(sql`drop schema ${sql.identifier(schema)}`);
  } catch (error) {
    if (sqlState(error) !== "2BP01") throw error;
    throw new BuildLockedError(
      `Something of yours depends on the tables of ${schema}, so they can't be dropped. ` +
        `Only the views in turnlog_read are made to be built on.`,
    );
  }
}

/** Deletes the checkpoints of ended builds in portions: millions of them in one transaction would hold up vacuum. */
async function clearCheckpoints(db: Db): Promise<void> {
  const former = await db.rows<{ number: number }>({
    text: "select number from turnlog.former_builds where has_checkpoints order by number",
  });
  if (former.length === 0) return;
  const numbers = former.map(({ number }) => number);
  for (let after: string | null = ""; after !== null;) {
    const [row]: { last: string | null }[] = await db.rows(
      {
        text: `
          with page as (
            select session_id, build
            from turnlog.checkpoints
            where session_id > $2 and build = any($1::integer[])
            order by session_id
            limit $3
          ), gone as (
            delete from turnlog.checkpoints c
            using page p
            where c.session_id = p.session_id and c.build = any($1::integer[])
          )
          select max(session_id) as last from page`,
      },
      [numbers, after, PORTION],
    );
    after = row?.last ?? null;
  }
  await db.rows(
    {
      text: "update turnlog.former_builds set has_checkpoints = false where number = any($1::integer[])",
    },
    [numbers],
  );
}
