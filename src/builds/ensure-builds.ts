/** Gives each projection that has no build its first one. */
import { sql } from "drizzle-orm";
import type { Db, Tx } from "../db/connect.ts";
import type { Projection } from "../projector/projection.ts";
import { addBuild, lockBuilds } from "./add-build.ts";
import { buildIndexes, buildTables, buildViews } from "./build-ddl.ts";
import { refreshViews } from "./refresh-views.ts";

/**
 * Makes a live build for each projection that has none, and marks every stored session as work for it, so that the
 * ordinary path fills it. Then brings the read views up to date, those of earlier releases too. Returns the names of
 * those projections. Several processes may call it at once.
 * Locks: advisory (7486, 0) exclusively until the commit, as migrations do; then builds; then those of `refreshViews`.
 * @throws ViewLockedError VIEW_LOCKED when a view can't be replaced because somebody reads it for long
 */
export async function ensureBuilds(
  db: Db,
  projections: readonly Projection[],
): Promise<readonly string[]> {
  const missing = await db.transaction(async (tx) => {
    await lockBuilds(tx);
    const known = await tx.rows<{ projection: string }>({
      text: "select projection from turnlog.builds",
    });
    const unbuilt = projections.filter(
      ({ name }) => !known.some(({ projection }) => projection === name),
    );
    for (const projection of unbuilt) await createBuild(tx, projection);
    if (unbuilt.length > 0) await markAllSessions(tx);
    return unbuilt;
  });
  // Once more, for sessions that were made and folded by the other builds before this one could be seen.
  if (missing.length > 0) await db.transaction(markAllSessions);
  await refreshViews(db, projections);
  return missing.map(({ name }) => name);
}

async function createBuild(tx: Tx, projection: Projection): Promise<void> {
  const number = await addBuild(tx, projection, {
    status: "live",
    rebuild: null,
  });
  const statements = [
    ...buildTables(projection, number),
    ...buildIndexes(projection, number).map((index) => index.create),
    ...buildViews(projection, number),
  ];
  for (const statement of statements) await tx.orm.execute(statement);
}

/** Locks: lock rows, then work, by session id. */
async function markAllSessions(tx: Tx): Promise<void> {
  await tx.orm.execute(sql`
    insert into turnlog.projection_sessions (session_id)
    select session_id from turnlog.sessions order by session_id
    on conflict (session_id) do nothing`);
  await tx.orm.execute(sql`
    insert into turnlog.work as w (session_id, next_seq, ring_at, claimed_until)
    select session_id, facts_head, clock_timestamp(), clock_timestamp()
    from turnlog.sessions
    where facts_head > 0 and deleted_at is null
    order by session_id
    on conflict (session_id) do update set next_seq = greatest(w.next_seq, excluded.next_seq)`);
}
