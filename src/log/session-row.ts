/** Reads a session's row: its header and where its log ends. */
import type { Queryable } from "../db/connect.ts";
import { SessionDeletedError, SessionNotFoundError } from "../errors.ts";
import { parseHeader, type SessionHeader } from "../events/header.ts";
import type { SessionId } from "../events/ids.ts";
import { parseJson } from "../events/json.ts";

export interface SessionRow {
  readonly header: SessionHeader;
  readonly incarnation: string;
  /** Number of events = seq of the next one. */
  readonly head: number;
  /** Next seq after the last event that is not a delta. */
  readonly factsHead: number;
  /** True while a writer holds the session, on the clock of the database. */
  readonly isWriterAlive: boolean;
}

interface Stored {
  readonly header: string;
  readonly incarnation: string;
  readonly head: number;
  readonly facts_head: number;
  readonly writer_alive: boolean;
  readonly deleted: boolean;
}

/** @throws SessionNotFoundError, SessionDeletedError */
export async function readSessionRow(
  db: Queryable,
  sessionId: SessionId,
): Promise<SessionRow> {
  const [row] = await db.rows<Stored>(
    {
      name: "turnlog_session_row",
      text: `
        select header, incarnation, head, facts_head, coalesce(writer_until > clock_timestamp(), false) as writer_alive,
               deleted_at is not null as deleted
        from turnlog.sessions
        where session_id = $1`,
    },
    [sessionId],
  );
  if (row === undefined) throw new SessionNotFoundError({ sessionId });
  if (row.deleted) throw new SessionDeletedError({ sessionId });
  return {
    header: parseHeader(parseJson(row.header)),
    incarnation: row.incarnation,
    head: row.head,
    factsHead: row.facts_head,
    isWriterAlive: row.writer_alive,
  };
}
