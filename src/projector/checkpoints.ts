/** Checkpoints: saved with the rows they vouch for, and only where nothing moved them in between. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import type { OpenBuild } from "./open-session.ts";

/** A build's checkpoint moved under us: a rebuild or an erasure came between. The transaction must be given up. */
export class CheckpointMovedError extends Error {}

export interface Progress {
  readonly build: OpenBuild;
  readonly nextSeq: number;
  readonly state: string;
}

/** Compare-and-set on next seq, incarnation and redaction generation of each build. Locks: the checkpoints. */
export async function saveCheckpoints(
  db: Queryable,
  sessionId: SessionId,
  progress: readonly Progress[],
): Promise<void> {
  const saved = await db.rows(
    {
      name: "turnlog_save_checkpoints",
      text: `
        update turnlog.checkpoints c
        set next_seq = n.next_seq, state = n.state, incarnation = n.incarnation,
            redaction_generation = n.redaction_generation,
            attempts = 0, next_at = null, error_code = null, error_seq = null, failed_at = null
        from unnest($2::integer[], $3::bigint[], $4::bigint[], $5::text[], $6::uuid[], $7::uuid[], $8::integer[], $9::integer[])
          as n (build, old_next_seq, next_seq, state, old_incarnation, incarnation, old_redaction_generation, redaction_generation)
        where c.session_id = $1
          and c.build = n.build
          and c.next_seq = n.old_next_seq
          and c.incarnation = n.old_incarnation
          and c.redaction_generation = n.old_redaction_generation
        returning c.build`,
    },
    [
      sessionId,
      progress.map(({ build }) => build.build),
      progress.map(({ build }) => build.next_seq),
      progress.map(({ nextSeq }) => nextSeq),
      progress.map(({ state }) => state),
      progress.map(({ build }) => build.checkpoint_incarnation),
      progress.map(({ build }) => build.incarnation),
      progress.map(({ build }) => build.checkpoint_redaction_generation),
      progress.map(({ build }) => build.redaction_generation),
    ],
  );
  if (saved.length !== progress.length)
    throw new CheckpointMovedError(
      "a checkpoint moved while its session was folded",
    );
}

/** Failures of one build at one session before it is parked, and the pauses between them. */
const MAX_ATTEMPTS = 8;

/** Where a build failed at a session and why, without any content. */
export interface Failure {
  readonly build: number;
  readonly seq: number;
  readonly errorCode: string;
}

/**
 * Notes a failure: the fold is tried again after 2, 4, 8 … seconds, then parked. A checkpoint that has come past it is
 * left alone. Locks: the checkpoint, for the statement.
 */
export async function recordFailure(
  db: Queryable,
  sessionId: SessionId,
  failure: Failure,
): Promise<void> {
  await db.rows(
    {
      name: "turnlog_record_failure",
      text: `
        update turnlog.checkpoints c
        set attempts = c.attempts + 1, error_code = $3, error_seq = $4,
            failed_at = coalesce(c.failed_at, clock_timestamp()),
            next_at = case when c.attempts + 1 < $5 then clock_timestamp() + make_interval(secs => 2 ^ (c.attempts + 1)) end,
            parked_at = case when c.attempts + 1 >= $5 then clock_timestamp() end
        where c.session_id = $1 and c.build = $2 and c.next_seq <= $4`,
    },
    [sessionId, failure.build, failure.errorCode, failure.seq, MAX_ATTEMPTS],
  );
}

/** After the commit: takes the session off the work list when nothing is left. True when work came meanwhile. */
export async function acknowledge(
  db: Queryable,
  sessionId: SessionId,
  seenSeq: number,
): Promise<boolean> {
  const [row] = await db.rows<{ again: boolean }>(
    {
      name: "turnlog_acknowledge_v2",
      text: "select again from turnlog.acknowledge_v2($1, $2) as again",
    },
    [sessionId, seenSeq],
  );
  return row?.again ?? false;
}

/**
 * Work that came while every healthy build got to `seenSeq` has waited since then at most, not since the session was
 * last behind. Locks: the work row, for the statement.
 * @param startedAt when the fold read the log's end: a `timestamptz` of the database as text
 */
export async function renewWork(
  db: Queryable,
  sessionId: SessionId,
  seenSeq: number,
  startedAt: string,
): Promise<void> {
  await db.rows(
    {
      name: "turnlog_renew_work",
      text: `
        update turnlog.work w
        set since = $3::timestamptz
        where w.session_id = $1
          and w.since < $3::timestamptz
          and $2::bigint <= all (
            select coalesce(c.next_seq, 0)
            from turnlog.builds b
            left join turnlog.checkpoints c on c.session_id = $1 and c.build = b.number
            where c.parked_at is null and c.next_at is null
              and (b.status <> 'kept' or exists (
                select from turnlog.workers k
                where k.projection = b.projection and k.version = b.version and k.alive_until > clock_timestamp())))`,
    },
    [sessionId, seenSeq, startedAt],
  );
}
