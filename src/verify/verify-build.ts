/** Holds the rows of a build against the fold of the log, session by session, while appends and projectors go on. */
import type { Db, Tx } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";
import { errorCodeOf } from "../projector/failure.ts";
import { buildSchema } from "../projector/open-session.ts";
import type { Projection } from "../projector/projection.ts";
import { readStoredBuild, refold } from "./refold.ts";
import { firstDifference, type RowDifference } from "./row-difference.ts";

/** Where a build differs from the fold of the log. */
export type Difference = { readonly sessionId: string } & (
  | ({ readonly kind: "row" } & RowDifference)
  /** The fold fails now at an event that the build is past. */
  | { readonly kind: "fold"; readonly seq: number; readonly errorCode: string }
);

export interface BuildVerification {
  /** Sessions that were compared. */
  readonly sessions: number;
  /** Sessions that were not: deleted, or to be folded anew from the beginning. */
  readonly passedOver: number;
  /** Events that the rows of these sessions stand for, and how many rows those are. */
  readonly events: number;
  readonly rows: number;
  /** The first one found; nothing behind it was looked at. */
  readonly difference: Difference | null;
}

export interface VerifyBuildRequest {
  /** Number of the build; live or not. */
  readonly build: number;
  /** The definition that feeds it, of the same version. */
  readonly projection: Projection;
  readonly sessionIds: Iterable<string> | AsyncIterable<string>;
  readonly onSession?: (sofar: BuildVerification) => void;
}

/**
 * Folds each session anew in memory up to the build's checkpoint and compares the rows, in one snapshot a session: what
 * is appended or projected meanwhile is not seen. Ends at the first difference. Writes nothing and locks nothing.
 */
export async function verifyBuild(
  db: Db,
  request: VerifyBuildRequest,
): Promise<BuildVerification> {
  let sofar: BuildVerification = NOTHING;
  for await (const id of request.sessionIds) {
    const one = await db.snapshot((tx) =>
      verifySession(tx, SessionId(id), request),
    );
    sofar = {
      sessions: sofar.sessions + one.sessions,
      passedOver: sofar.passedOver + one.passedOver,
      events: sofar.events + one.events,
      rows: sofar.rows + one.rows,
      difference: one.difference,
    };
    if (sofar.difference !== null) return sofar;
    request.onSession?.(sofar);
  }
  return sofar;
}

const NOTHING: BuildVerification = {
  sessions: 0,
  passedOver: 0,
  events: 0,
  rows: 0,
  difference: null,
};

async function verifySession(
  tx: Tx,
  sessionId: SessionId,
  { build, projection }: VerifyBuildRequest,
): Promise<BuildVerification> {
  const stored = await readStoredBuild(tx, sessionId, build);
  if (stored === null || stored.deleted || !stored.is_current)
    return { ...NOTHING, passedOver: 1 };
  const events = stored.next_seq;
  const found = await refold(tx, sessionId, stored, projection);
  if (found !== null && "trouble" in found) {
    const { toSeq, cause } = found.trouble;
    const errorCode = errorCodeOf(cause);
    const difference = {
      sessionId,
      kind: "fold",
      seq: toSeq - 1,
      errorCode,
    } as const;
    return { ...NOTHING, sessions: 1, events, difference };
  }
  const changes = found?.rows.take();
  let count = 0;
  for (const table of projection.tables) {
    const rows = changes?.get(table)?.upserts ?? [];
    count += rows.length;
    const schema = buildSchema(build);
    const row = await firstDifference(tx, schema, table, sessionId, rows);
    if (row === null) continue;
    const difference = { sessionId, kind: "row", ...row } as const;
    return { ...NOTHING, sessions: 1, events, rows: count, difference };
  }
  return { ...NOTHING, sessions: 1, events, rows: count };
}
