/** Reads a session's log in pages: by key, bounded in rows and bytes, so that memory does not grow with the log. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import type { SessionEvent } from "../events/event.ts";
import { readSessionRow } from "./session-row.ts";
import { eventsOf, STORED_COLUMNS, type StoredRow } from "./stored-row.ts";

/** Rows and payload bytes of a page; a page always has at least one row. */
const PAGE_ROWS = 1_000;
const PAGE_BYTES = 4 * 1024 * 1024;

export interface ReadOptions {
  /** First seq to read; default 0. */
  readonly fromSeq?: number;
  /** Stop before this seq; default: the head when the reading starts. */
  readonly toSeq?: number;
}

/**
 * Yields the events of a session in order, as of the moment the reading starts.
 * @throws SessionNotFoundError, SessionDeletedError at the first event.
 */
export async function* readEvents(
  db: Queryable,
  sessionId: SessionId,
  options: ReadOptions = {},
): AsyncGenerator<SessionEvent> {
  const { head } = await readSessionRow(db, sessionId);
  const fromSeq = options.fromSeq ?? 0;
  const toSeq = Math.min(options.toSeq ?? head, head);
  let next = await rowStart(db, sessionId, fromSeq);
  while (next < toSeq) {
    const rows = await readPage(db, {
      sessionId,
      fromSeq: next,
      toSeq,
      types: null,
    });
    for (const row of rows) {
      for (const event of eventsOf(row))
        if (event.seq >= fromSeq && event.seq < toSeq) yield event;
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    next = last.seq + last.event_count;
  }
}

export interface PageRequest {
  readonly sessionId: SessionId;
  /** Seq of the first row wanted; must not lie inside a run. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Row types wanted (storage tags for runs); null for all. */
  readonly types: readonly string[] | null;
}

/** One page of stored rows, in order. */
export async function readPage(
  db: Queryable,
  request: PageRequest,
): Promise<StoredRow[]> {
  const { sessionId, fromSeq, toSeq, types } = request;
  const name = types === null ? "turnlog_read_page" : "turnlog_read_typed_page";
  const filter = types === null ? "" : "and type = any($6::text[])";
  const text = `
    select ${STORED_COLUMNS}
    from (
      select ${STORED_COLUMNS},
             sum(octet_length(payload)) over (order by seq) - octet_length(payload) as bytes_before
      from (
        select ${STORED_COLUMNS}
        from turnlog.events
        where session_id = $1 and seq >= $2 and seq < $3 ${filter}
        order by seq
        limit $4
      ) page
    ) page
    where bytes_before < $5
    order by seq`;
  const values = [sessionId, fromSeq, toSeq, PAGE_ROWS, PAGE_BYTES];
  return db.rows<StoredRow>(
    { name, text },
    types === null ? values : [...values, types],
  );
}

/** Seq of the row that holds `seq`: the same, or the start of the run around it. */
async function rowStart(
  db: Queryable,
  sessionId: SessionId,
  seq: number,
): Promise<number> {
  if (seq <= 0) return 0;
  const [row] = await db.rows<{ seq: number }>(
    {
      name: "turnlog_row_start",
      text: `
        select seq
        from turnlog.events
        where session_id = $1 and seq <= $2
        order by seq desc
        limit 1`,
    },
    [sessionId, seq],
  );
  return row?.seq ?? 0;
}
