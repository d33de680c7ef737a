/** The ranges of a rebuild: cut by events, claimed by one process each, and taken over when it falls silent. */
import type { Queryable } from "../db/connect.ts";

/** Events of a range, about; a session is never divided. */
const RANGE_EVENTS = 100_000;
/** And sessions of it, at most. */
const RANGE_SESSIONS = 2_000;
/** A process that is silent for this long has given its range up. */
export const HOLD_SECONDS = 10;

export interface Range {
  readonly range: number;
  readonly fromId: string;
  /** Null: to the end. */
  readonly untilId: string | null;
}

/** Cuts all stored sessions into ranges. Sessions that come later fall into one of them too. */
export async function cutRanges(db: Queryable, rebuild: number): Promise<void> {
  await db.rows(
    {
      text: `
        insert into turnlog.rebuild_ranges (rebuild, range, from_id, until_id, sessions, events)
        select $1, row_number() over (order by r.from_id),
               case when row_number() over (order by r.from_id) = 1 then '' else r.from_id end,
               lead(r.from_id) over (order by r.from_id), r.sessions, r.events
        from (
          select min(s.session_id) as from_id, count(*) as sessions, sum(s.facts_head)::bigint as events
          from (
            select session_id, facts_head,
                   div(sum(facts_head) over w - facts_head, $2) as at_events,
                   div(row_number() over w - 1, $3) as at_sessions
            from turnlog.sessions
            where deleted_at is null and facts_head > 0
            window w as (order by session_id)
          ) s
          group by s.at_events, s.at_sessions
        ) r`,
      timeoutMs: 600_000,
    },
    [rebuild, RANGE_EVENTS, RANGE_SESSIONS],
  );
}

/** Takes a range that nobody works on. Locks: its row, skip locked, for the statement. */
export async function claimRange(
  db: Queryable,
  rebuild: number,
  holder: string,
): Promise<Range | null> {
  const [row] = await db.rows<{
    range: number;
    from_id: string;
    until_id: string | null;
  }>(
    {
      name: "turnlog_claim_range",
      text: `
        with free as materialized (
          select o.range
          from turnlog.rebuild_ranges o
          where o.rebuild = $1 and o.done_at is null and o.held_until <= clock_timestamp()
          order by o.range
          limit 1
          for update skip locked
        )
        update turnlog.rebuild_ranges r
        set holder = $2, held_until = clock_timestamp() + make_interval(secs => $3)
        from free
        where r.rebuild = $1 and r.range = free.range
        returning r.range, r.from_id, r.until_id`,
    },
    [rebuild, holder, HOLD_SECONDS],
  );
  return row === undefined
    ? null
    : { range: row.range, fromId: row.from_id, untilId: row.until_id };
}

export interface RangeProgress {
  readonly rebuild: number;
  readonly range: number;
  readonly holder: string;
  readonly sessions: number;
  readonly events: number;
}

/** Notes how far a range has come. False when another process has taken it over: then nothing is noted. */
export async function noteProgress(
  db: Queryable,
  progress: RangeProgress,
): Promise<boolean> {
  const { rebuild, range, holder, sessions, events } = progress;
  const noted = await db.rows(
    {
      name: "turnlog_note_range",
      text: `
        update turnlog.rebuild_ranges r
        set held_until = clock_timestamp() + make_interval(secs => $4),
            done_sessions = greatest(r.done_sessions, least(r.sessions, $5)),
            done_events = greatest(r.done_events, least(r.events, $6)),
            moved_at = clock_timestamp()
        where r.rebuild = $1 and r.range = $2 and r.holder = $3 and r.done_at is null
        returning r.range`,
    },
    [rebuild, range, holder, HOLD_SECONDS, sessions, events],
  );
  return noted.length > 0;
}

/** Keeps a range through a read or a write that takes long. */
export async function holdRanges(
  db: Queryable,
  rebuild: number,
  holder: string,
): Promise<void> {
  await db.rows(
    {
      text: `
        update turnlog.rebuild_ranges
        set held_until = clock_timestamp() + make_interval(secs => $3)
        where rebuild = $1 and holder = $2 and done_at is null`,
    },
    [rebuild, holder, HOLD_SECONDS],
  );
}

/** The range is in the tables, but for sessions that the ordinary path has to bring. */
export async function finishRange(
  db: Queryable,
  rebuild: number,
  range: number,
): Promise<void> {
  await db.rows(
    {
      text: `
        update turnlog.rebuild_ranges
        set done_at = clock_timestamp(), moved_at = clock_timestamp(), done_sessions = sessions, done_events = events
        where rebuild = $1 and range = $2 and done_at is null`,
    },
    [rebuild, range],
  );
}

/** Lets go of the ranges of a process that stops, so that others need not wait for it. */
export async function releaseRanges(
  db: Queryable,
  rebuild: number,
  holder: string,
): Promise<void> {
  await db.rows(
    {
      text: `
        update turnlog.rebuild_ranges
        set holder = null, held_until = clock_timestamp()
        where rebuild = $1 and holder = $2 and done_at is null`,
    },
    [rebuild, holder],
  );
}

/** Ranges that are not done. */
export async function countOpenRanges(
  db: Queryable,
  rebuild: number,
): Promise<number> {
  const [row] = await db.rows<{ open: number }>(
    {
      name: "turnlog_open_ranges",
      text: "select count(*) as open from turnlog.rebuild_ranges where rebuild = $1 and done_at is null",
    },
    [rebuild],
  );
  return row?.open ?? 0;
}
