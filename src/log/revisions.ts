/** Tokens that tell whether a session has changed since, without a look at its log. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import { badCall } from "./bad-call.ts";

/** Sessions of one call at most. */
const MAX_SESSIONS = 1_000;

/**
 * Revision of each session that is stored, by id. Two are equal only if the logs are: the revision names the incarnation,
 * so that a session made anew under the id of a deleted one has another, its redactions, and its number of events.
 * @throws EventInvalidError for more than 1,000 sessions
 */
export async function readRevisions(
  db: Queryable,
  sessionIds: readonly SessionId[],
): Promise<ReadonlyMap<string, string>> {
  if (sessionIds.length > MAX_SESSIONS)
    throw badCall("sessionIds", `must be at most ${MAX_SESSIONS}`);
  const rows = await db.rows<{ session_id: string; revision: string }>(
    {
      name: "turnlog_revisions",
      text: `
        select session_id, incarnation || '.' || redaction_generation || '.' || head as revision
        from turnlog.sessions
        where session_id = any($1::text[]) and deleted_at is null`,
    },
    [sessionIds],
  );
  return new Map(rows.map((row) => [row.session_id, row.revision]));
}
