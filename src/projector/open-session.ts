/** Opens a session for folding: its locks are taken, and where each build stands is known. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import type { Projection } from "./projection.ts";

/** A build as it stands at the session. */
export interface OpenBuild {
  readonly incarnation: string;
  readonly header: string;
  readonly facts_head: number;
  readonly redaction_generation: number;
  readonly deleted: boolean;
  readonly build: number;
  readonly projection: string;
  readonly version: number;
  /** Neither parked nor waiting after a failure. */
  readonly due: boolean;
  readonly attempts: number;
  readonly next_seq: number;
  /** Where the row of the log begins that holds `next_seq`, which may lie inside a run; at `next_seq` or before it. */
  readonly row_seq: number;
  /** Seqs that an operator had this build pass over. */
  readonly skipped: readonly number[];
  /** Empty before the first event. */
  readonly state: string;
  readonly checkpoint_incarnation: string;
  readonly checkpoint_redaction_generation: number;
  /** When the transaction began, on the database's clock: a `timestamptz` as text. */
  readonly started_at: string;
}

/**
 * First statement of the projector's transaction. Locks: each build's advisory lock (7486, number), shared; the
 * session's lock row. Returns nothing when another projector has the session, or there is none.
 *
 * What is read beside the function is of the moment before it had the locks: a skip that was committed in between is
 * missed, and then the checkpoint is past it already; rows of the log are never changed.
 */
export function openSession(
  db: Queryable,
  sessionId: SessionId,
): Promise<OpenBuild[]> {
  return db.rows<OpenBuild>(
    {
      name: "turnlog_open_projection_v1",
      text: `
        select o.incarnation, o.header, o.facts_head, o.redaction_generation, o.deleted, o.build, o.projection, o.version,
               o.due, o.attempts, o.next_seq, o.state, o.checkpoint_incarnation, o.checkpoint_redaction_generation,
               coalesce((select e.seq from turnlog.events e where e.session_id = $1 and e.seq <= o.next_seq
                         order by e.seq desc limit 1), 0) as row_seq,
               coalesce((select json_agg(k.seq) from turnlog.skipped_events k
                         where k.session_id = $1 and k.build = o.build and k.incarnation = o.incarnation), '[]') as skipped,
               now()::text as started_at
        from turnlog.open_projection_v1($1) o`,
    },
    [sessionId],
  );
}

/** The definition that feeds a build; a worker never feeds a version it hasn't got. */
export function definitionOf(
  projections: readonly Projection[],
  build: OpenBuild,
): Projection | undefined {
  return projections.find(
    (projection) =>
      projection.name === build.projection &&
      projection.version === build.version,
  );
}

/** Schema of a build's tables. */
export function buildSchema(build: number): string {
  return `turnlog_b${build}`;
}
