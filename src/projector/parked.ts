/** Builds that failed at a session: what is known of it, another try, and passing over the event. */
import type { Queryable } from "../db/connect.ts";
import { ParkedNotFoundError } from "../errors.ts";
import type { SessionId } from "../events/ids.ts";

/** A build that has not got past an event of a session. Nothing of the session's content. */
export interface ParkedPair {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
  readonly sessionId: string;
  /** Event it failed at; null when it is not known. */
  readonly seq: number | null;
  /** Type of that event; of a run of deltas its storage tag. */
  readonly eventType: string | null;
  readonly errorCode: string | null;
  /** Failures since the last success. */
  readonly attempts: number;
  /** When it first failed there, ISO 8601. */
  readonly failedAt: string | null;
  /** When it was given up; null while it is tried again. */
  readonly parkedAt: string | null;
  /** When it is tried again; null when it is given up. */
  readonly nextAt: string | null;
  /** Events that it may not have folded. */
  readonly eventsBehind: number;
  /** Events of the session that it was made to pass over before. */
  readonly skipped: readonly number[];
}

export interface ParkedFilter {
  /** Null for all. */
  readonly projection: string | null;
  readonly sessionId: string | null;
  /** Pairs that come after this one in the list. */
  readonly after?: ParkedPair;
  readonly limit: number;
}

interface PairRow {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
  readonly session_id: string;
  readonly error_seq: number | null;
  readonly event_type: string | null;
  readonly error_code: string | null;
  readonly attempts: number;
  readonly failed_at: Date | null;
  readonly parked_at: Date | null;
  readonly next_at: Date | null;
  readonly events_behind: number;
  readonly skipped: readonly number[];
}

/** Pairs that are parked or wait for another try, by session and build. */
export async function listParked(
  db: Queryable,
  filter: ParkedFilter,
): Promise<readonly ParkedPair[]> {
  const rows = await db.rows<PairRow>(
    {
      name: "turnlog_list_parked",
      text: `
        select b.projection, b.version, b.number as build, c.session_id, c.error_seq, c.error_code, c.attempts,
               (select e.type from turnlog.events e
                where e.session_id = c.session_id and e.seq <= c.error_seq
                order by e.seq desc limit 1) as event_type,
               c.failed_at, c.parked_at, c.next_at,
               greatest(s.facts_head - c.next_seq, 0) as events_behind,
               coalesce((select json_agg(k.seq order by k.seq) from turnlog.skipped_events k
                         where k.session_id = c.session_id and k.build = c.build and k.incarnation = s.incarnation),
                        '[]') as skipped
        from (
          select session_id, build, next_seq, error_seq, error_code, attempts, failed_at, parked_at, next_at
          from turnlog.checkpoints where parked_at is not null
          union all
          select session_id, build, next_seq, error_seq, error_code, attempts, failed_at, parked_at, next_at
          from turnlog.checkpoints where next_at is not null
        ) c
        join turnlog.builds b on b.number = c.build
        join turnlog.sessions s on s.session_id = c.session_id
        where ($1::text is null or b.projection = $1)
          and ($2::text is null or c.session_id = $2)
          and ($3::text is null or (c.session_id, c.build) > ($3::text collate "C", $4::integer))
        order by c.session_id, c.build
        limit $5`,
    },
    [
      filter.projection,
      filter.sessionId,
      filter.after?.sessionId ?? null,
      filter.after?.build ?? null,
      filter.limit,
    ],
  );
  return rows.map(pairOf);
}

/**
 * The builds of a projection that failed at a session; more than one while a new build is being made.
 * @throws ParkedNotFoundError when there is none
 */
export async function readParked(
  db: Queryable,
  projection: string,
  sessionId: SessionId,
): Promise<readonly ParkedPair[]> {
  const pairs = await listParked(db, { projection, sessionId, limit: 100 });
  if (pairs.length === 0)
    throw new ParkedNotFoundError({ projection, sessionId });
  return pairs;
}

/**
 * Lets the build try the session again at once, with as many attempts as at first. False when it had not failed there any
 * more. Locks, in order: the session's lock row, for which it waits, checkpoint, work.
 */
export async function retryParked(
  db: Queryable,
  pair: Pick<ParkedPair, "sessionId" | "build">,
): Promise<boolean> {
  const [row] = await db.rows<{ done: boolean }>(
    { text: "select turnlog.retry_parked_v1($1, $2) as done" },
    [pair.sessionId, pair.build],
  );
  return row?.done ?? false;
}

/**
 * Has the build pass over the event it failed at, for good, and go on behind it: its rows are the fold of the log
 * without that event. Other builds, a later version's too, fold it. False when it did not stand at that event any more.
 * Locks: those of `retryParked`.
 */
export async function skipParked(
  db: Queryable,
  pair: Pick<ParkedPair, "sessionId" | "build" | "seq">,
): Promise<boolean> {
  const [row] = await db.rows<{ done: boolean }>(
    { text: "select turnlog.skip_parked_v1($1, $2, $3) as done" },
    [pair.sessionId, pair.build, pair.seq],
  );
  return row?.done ?? false;
}

function pairOf(row: PairRow): ParkedPair {
  return {
    projection: row.projection,
    version: row.version,
    build: row.build,
    sessionId: row.session_id,
    seq: row.error_seq,
    eventType: row.event_type,
    errorCode: row.error_code,
    attempts: row.attempts,
    failedAt: row.failed_at?.toISOString() ?? null,
    parkedAt: row.parked_at?.toISOString() ?? null,
    nextAt: row.next_at?.toISOString() ?? null,
    eventsBehind: row.events_behind,
    skipped: row.skipped,
  };
}
