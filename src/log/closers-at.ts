/** The closers of a stored log: what a repair would append to it. */
import type { Queryable } from "../db/connect.ts";
import {
  CLOSER_TYPES,
  closersOf,
  followTurn,
  initOpenTurn,
} from "../events/closers.ts";
import type { SessionEvent } from "../events/event.ts";
import type { SessionId } from "../events/ids.ts";
import { eventsOf, STORED_COLUMNS, type StoredRow } from "./stored-row.ts";
import { readTypedEvents } from "./typed-events.ts";

/** How a log ends. */
export interface LogEnd {
  /** Null in a log without events. */
  readonly lastType: string | null;
  /** Empty unless a turn is open. */
  readonly closers: readonly SessionEvent[];
}

/** Reads the open turn of the log below `head`, but none of its deltas; of a log without one the last rows. */
export async function readLogEnd(
  db: Queryable,
  sessionId: SessionId,
  head: number,
): Promise<LogEnd> {
  const last = await readLast(db, sessionId, head);
  if (last === undefined) return { lastType: null, closers: [] };
  const fromSeq = await readOpenTurnStart(db, sessionId, head);
  if (fromSeq === null) return { lastType: last.type, closers: [] };
  let open = initOpenTurn;
  for await (const event of readTypedEvents(db, {
    sessionId,
    fromSeq,
    toSeq: head,
    types: CLOSER_TYPES,
  }))
    open = followTurn(open, event);
  return { lastType: last.type, closers: closersOf(open, last) };
}

async function readLast(
  db: Queryable,
  sessionId: SessionId,
  head: number,
): Promise<SessionEvent | undefined> {
  const [row] = await db.rows<StoredRow>(
    {
      name: "turnlog_last_row",
      text: `
        select ${STORED_COLUMNS}
        from turnlog.events
        where session_id = $1 and seq < $2
        order by seq desc
        limit 1`,
    },
    [sessionId, head],
  );
  return row === undefined ? undefined : eventsOf(row).at(-1);
}

/** Seq of the last turn's start; null where that turn has ended. */
async function readOpenTurnStart(
  db: Queryable,
  sessionId: SessionId,
  head: number,
): Promise<number | null> {
  const [row] = await db.rows<{ seq: number; type: string }>(
    {
      name: "turnlog_last_turn",
      text: `
        select seq, type
        from turnlog.events
        where session_id = $1 and seq < $2 and type in ('turn/start', 'turn/end')
        order by seq desc
        limit 1`,
    },
    [sessionId, head],
  );
  return row?.type === "turn/start" ? row.seq : null;
}
