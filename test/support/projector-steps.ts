/** The projector's steps, one at a time, and what they leave in the checkpoints. */
import { basename } from "node:path";
import type { Db, Queryable } from "../../src/db/connect.ts";
import { SessionId } from "../../src/events/ids.ts";
import { silentLogger } from "../../src/logger.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { projectSession } from "../../src/projector/project-session.ts";
import type { Projection } from "../../src/projector/projection.ts";
import { exampleFiles } from "./logs.ts";
import { readLog, type LogLike } from "./reference-log.ts";

/** An example session, by the name of its file. */
export function exampleLog(name: string): LogLike {
  const file = exampleFiles().find((path) => basename(path) === name);
  if (file === undefined) throw new Error(`there is no example ${name}`);
  return readLog(file);
}

/** One call of the projector; true when it wants to be called again. */
export function fold(
  db: Db,
  sessionId: string,
  projections: readonly Projection[] = builtInProjections,
): Promise<boolean> {
  return projectSession(
    { db, projections, logger: silentLogger },
    SessionId(sessionId),
  );
}

/** Calls the projector for as long as it wants to be called again, and returns how often that was. */
export async function foldFully(
  db: Db,
  sessionId: string,
  projections: readonly Projection[] = builtInProjections,
): Promise<number> {
  for (let calls = 1; ; calls += 1)
    if (!(await fold(db, sessionId, projections))) return calls;
}

export interface CheckpointRow {
  readonly next_seq: number;
  readonly attempts: number;
  readonly error_code: string | null;
  readonly error_seq: number | null;
  /** Seconds until the next try; null where none is due. */
  readonly retry_in: number | null;
  readonly is_parked: boolean;
}

/** Where the live build of a projection stands at a session; null where it never was. */
export async function checkpointOf(
  db: Queryable,
  sessionId: string,
  projection: string,
): Promise<CheckpointRow | null> {
  const [row] = await db.rows<CheckpointRow>(
    {
      text: `
        select c.next_seq, c.attempts, c.error_code, c.error_seq,
               extract(epoch from c.next_at - clock_timestamp())::float8 as retry_in,
               c.parked_at is not null as is_parked
        from turnlog.checkpoints c
        join turnlog.builds b on b.number = c.build
        where c.session_id = $1 and b.projection = $2 and b.status = 'live'`,
    },
    [sessionId, projection],
  );
  return row ?? null;
}

/** Schema of the tables of a projection's live build. */
export async function schemaOf(
  db: Queryable,
  projection: string,
): Promise<string> {
  const [row] = await db.rows<{ number: number }>(
    {
      text: "select number from turnlog.builds where projection = $1 and status = 'live'",
    },
    [projection],
  );
  return `turnlog_b${row?.number}`;
}

/** Runs statements against the log as its owner may in an erasure: the guard does not look. */
export async function changeLog(
  db: Db,
  sessionId: string,
  statements: readonly string[],
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows({ text: "set local session_replication_role = replica" });
    for (const text of statements) await tx.rows({ text }, [sessionId]);
  });
}
