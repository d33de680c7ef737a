/** The statements by which a writer gets a session, keeps it and lets it go. Each locks the session row while it runs. */
import type { Queryable } from "../db/connect.ts";
import { isTransient } from "../db/pg-errors.ts";
import {
  SessionBusyError,
  SessionDeletedError,
  SessionNotFoundError,
} from "../errors.ts";
import type { SessionId } from "../events/ids.ts";

/** A writer as the database knows it. */
export interface Hold {
  readonly sessionId: SessionId;
  readonly incarnation: string;
  readonly epoch: number;
}

interface OpenedRow {
  readonly outcome: "opened" | "busy" | "deleted" | "missing";
  readonly epoch: number;
  readonly head: number;
  readonly incarnation: string;
  readonly left_ms: number | null;
}

/**
 * Raises the session's epoch, which fences every earlier writer off, and holds the session.
 * @param holdMs how long the new writer counts as alive; 0 holds nothing
 * @throws SessionNotFoundError, SessionDeletedError; SessionBusyError when its writer is alive and is not taken over
 */
export async function openHold(
  db: Queryable,
  sessionId: SessionId,
  takeOver: boolean,
  holdMs: number,
): Promise<Hold & { readonly head: number }> {
  const row = await call(db, sessionId, takeOver, holdMs);
  switch (row?.outcome) {
    case "opened": {
      const { epoch, head, incarnation } = row;
      return { sessionId, epoch, head, incarnation };
    }
    case "busy":
      throw new SessionBusyError({ sessionId, aliveMs: row.left_ms ?? 0 });
    case "deleted":
      throw new SessionDeletedError({ sessionId });
    case "missing":
    case undefined:
      throw new SessionNotFoundError({ sessionId });
  }
}

async function call(
  db: Queryable,
  sessionId: SessionId,
  takeOver: boolean,
  holdMs: number,
): Promise<OpenedRow | undefined> {
  try {
    const [row] = await db.rows<OpenedRow>(
      {
        name: "turnlog_open_writer_v1",
        text: `
          select outcome, epoch, head, incarnation, left_ms
          from turnlog.open_writer_v1($1, $2, $3)`,
      },
      [sessionId, takeOver, holdMs],
    );
    return row;
  } catch (error) {
    if (isTransient(error))
      throw new SessionBusyError({ sessionId, cause: error });
    throw error;
  }
}

/** Says that the writer is alive. Returns the session's epoch now; null when the session is gone. */
export async function keepHold(
  db: Queryable,
  { sessionId, incarnation, epoch }: Hold,
  holdMs: number,
): Promise<number | null> {
  const [row] = await db.rows<{ epoch: number | null }>(
    {
      name: "turnlog_hold_writer_v1",
      text: "select turnlog.hold_writer_v1($1, $2, $3, $4) as epoch",
    },
    [sessionId, incarnation, epoch, holdMs],
  );
  return row?.epoch ?? null;
}

/** Lets the session go at once; without it the next writer waits until the hold is over. */
export async function releaseHold(
  db: Queryable,
  { sessionId, incarnation, epoch }: Hold,
): Promise<void> {
  await db.rows(
    {
      name: "turnlog_release_writer_v1",
      text: "select turnlog.release_writer_v1($1, $2, $3)",
    },
    [sessionId, incarnation, epoch],
  );
}
