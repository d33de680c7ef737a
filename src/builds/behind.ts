/** Sessions that builds lag behind at, and putting them on the work list. */
import type { Db, Queryable } from "../db/connect.ts";

/** Sessions of a transaction that puts them on the work list. */
const MARK_SESSIONS = 5_000;

/**
 * Puts every session that one of the builds lacks something of on the work list, and wakes the projectors.
 * Returns how many there are. Locks: lock rows, then work, by session id, in portions.
 */
export async function markBehind(
  db: Db,
  builds: readonly number[],
): Promise<number> {
  let marked = 0;
  for (let after: string | null = null; ;) {
    const rows: { session_id: string }[] = await db.rows(
      {
        text: `
          select s.session_id
          from turnlog.sessions s
          where ($2::text is null or s.session_id > $2)
            and exists (${BEHIND})
          order by s.session_id
          limit $3`,
        timeoutMs: 600_000,
      },
      [builds, after, MARK_SESSIONS],
    );
    if (rows.length > 0)
      await mark(
        db,
        rows.map((row) => row.session_id),
      );
    marked += rows.length;
    if (rows.length < MARK_SESSIONS) break;
    after = rows.at(-1)?.session_id ?? null;
  }
  if (marked > 0)
    await db.rows({ text: "select pg_notify('turnlog_work', '')" });
  return marked;
}

/** Builds of $1 that lack something of session s. A session that has failed or is parked is no matter of waiting. */
const BEHIND = `
  select
  from unnest($1::integer[]) b
  left join turnlog.checkpoints c on c.session_id = s.session_id and c.build = b
  where c.parked_at is null and c.next_at is null
    and (coalesce(c.next_seq, 0) < case when s.deleted_at is null then s.facts_head else 0 end
         or c.incarnation <> s.incarnation
         or c.redaction_generation <> s.redaction_generation)`;

async function mark(db: Db, sessionIds: readonly string[]): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows(
      {
        text: `
          insert into turnlog.projection_sessions (session_id)
          select s from unnest($1::text[]) s order by s
          on conflict (session_id) do nothing`,
      },
      [sessionIds],
    );
    await tx.rows(
      {
        text: `
          insert into turnlog.work as w (session_id, next_seq, ring_at, claimed_until)
          select s.session_id, s.facts_head, clock_timestamp(), clock_timestamp()
          from turnlog.sessions s
          where s.session_id = any($1::text[])
          order by s.session_id
          on conflict (session_id) do update
          set next_seq = greatest(w.next_seq, excluded.next_seq), ring_at = excluded.ring_at,
              claimed_until = least(w.claimed_until, excluded.claimed_until)`,
      },
      [sessionIds],
    );
  });
}

/** Sessions on the work list that one of the builds lags behind at, the longest waiting first. */
export async function workBehind(
  db: Queryable,
  builds: readonly number[],
  limit: number,
): Promise<readonly string[]> {
  const rows = await db.rows<{ session_id: string }>(
    {
      name: "turnlog_work_behind",
      text: `
        select s.session_id
        from turnlog.work w
        join turnlog.sessions s on s.session_id = w.session_id
        where exists (${BEHIND})
        order by w.since
        limit $2`,
    },
    [builds, limit],
  );
  return rows.map((row) => row.session_id);
}
