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
  /** Empty before the first event. */
  readonly state: string;
  readonly checkpoint_incarnation: string;
  readonly checkpoint_redaction_generation: number;
}

/**
 * First statement of the projector's transaction. Locks: each build's advisory lock (7486, number), shared; the
 * session's lock row. Returns nothing when another projector has the session, or there is none.
 */
export function openSession(
  db: Queryable,
  sessionId: SessionId,
): Promise<OpenBuild[]> {
  return db.rows<OpenBuild>(
    {
      name: "turnlog_open_projection_v1",
      text: `
        select incarnation, header, facts_head, redaction_generation, deleted, build, projection, version, due,
               attempts, next_seq, state, checkpoint_incarnation, checkpoint_redaction_generation
        from turnlog.open_projection_v1($1)`,
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
