/** How far a projection has folded a session. */
import type { Queryable } from "../db/connect.ts";
import { ProjectionUnknownError } from "../errors.ts";
import type { SessionId } from "../events/ids.ts";

export interface ProjectionProgress {
  readonly projection: string;
  /** Every event below this is in the tables; 0 before the first fold. */
  readonly nextSeq: number;
  readonly parkedAtSeq: number | null;
  readonly isParked: boolean;
  readonly errorCode: string | null;
}

interface ProgressRow {
  readonly projection: string;
  readonly next_seq: number;
  readonly error_seq: number | null;
  readonly error_code: string | null;
  readonly parked: boolean;
}

/**
 * Progress of the live builds at a session; what was folded before a redaction, or of a deleted session of the same id,
 * does not count.
 * @param names projections to look at; null for all
 * @throws ProjectionUnknownError when one of them has no live build
 */
export async function readProgress(
  db: Queryable,
  sessionId: SessionId,
  names: readonly string[] | null,
): Promise<readonly ProjectionProgress[]> {
  const rows = await db.rows<ProgressRow>(
    {
      name: "turnlog_read_progress",
      text: `
        select b.projection, coalesce(c.next_seq, 0) as next_seq, c.error_seq, c.error_code,
               coalesce(c.parked_at is not null, false) as parked
        from turnlog.builds b
        left join turnlog.sessions s on s.session_id = $1
        left join turnlog.checkpoints c
          on c.session_id = s.session_id and c.build = b.number
             and c.incarnation = s.incarnation and c.redaction_generation = s.redaction_generation
        where b.status = 'live'
        order by b.projection`,
    },
    [sessionId],
  );
  const known = rows.map((row) => row.projection);
  for (const name of names ?? []) {
    if (!known.includes(name))
      throw new ProjectionUnknownError({ projection: name, known });
  }
  return rows
    .filter((row) => names === null || names.includes(row.projection))
    .map((row) => ({
      projection: row.projection,
      nextSeq: row.next_seq,
      parkedAtSeq: row.error_seq,
      isParked: row.parked,
      errorCode: row.error_code,
    }));
}

/** Seq of the last event that a projection has folded; -1 before the first. */
export async function readAsOfSeq(
  db: Queryable,
  sessionId: SessionId,
  projection: string,
): Promise<number> {
  const [progress] = await readProgress(db, sessionId, [projection]);
  return (progress?.nextSeq ?? 0) - 1;
}
