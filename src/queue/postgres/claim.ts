/** Claims sessions from the work table: each goes to one claimer, until its claim runs out. */
import type { Queryable } from "../../db/connect.ts";

/**
 * Takes up to `limit` sessions that have been unclaimed for `overdueMs`, the longest waiting first, for `claimMs`.
 * The time is that of the statement: a clock that moves while it runs could not be looked up in the index.
 * Locks: the work rows, skip locked, for the length of the statement.
 */
export async function claimSessions(
  db: Queryable,
  limit: number,
  claimMs: number,
  overdueMs: number,
): Promise<readonly string[]> {
  const rows = await db.rows<{ session_id: string }>(
    {
      name: "turnlog_claim_sessions",
      text: `
        update turnlog.work w
        set claimed_until = clock_timestamp() + make_interval(secs => $2::float8 / 1000)
        where w.session_id in (
            select o.session_id
            from turnlog.work o
            where o.claimed_until <= statement_timestamp() - make_interval(secs => $3::float8 / 1000)
            order by o.claimed_until
            limit $1
            for update skip locked)
          and w.claimed_until <= statement_timestamp() - make_interval(secs => $3::float8 / 1000)
        returning w.session_id`,
    },
    [limit, claimMs, overdueMs],
  );
  return rows.map((row) => row.session_id);
}

/**
 * Makes sessions claimable now, also for claimers that leave work alone for `overdueMs`, and wakes the claimers.
 * Locks: the work rows, by session id.
 */
export async function releaseSessions(
  db: Queryable,
  sessionIds: readonly string[],
  overdueMs: number,
): Promise<void> {
  await db.rows(
    {
      name: "turnlog_release_sessions",
      text: `
        with released as (
          update turnlog.work w
          set claimed_until = clock_timestamp() - make_interval(secs => $2::float8 / 1000)
          from (
            select o.session_id
            from turnlog.work o
            where o.session_id = any($1::text[]) and o.claimed_until > clock_timestamp() - make_interval(secs => $2::float8 / 1000)
            order by o.session_id
            for update
          ) o
          where w.session_id = o.session_id)
        select pg_notify('turnlog_work', '')`,
    },
    [sessionIds, overdueMs],
  );
}
