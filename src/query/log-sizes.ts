/** How much room the log takes. */
import type { Queryable } from "../db/connect.ts";

export interface SessionSize {
  readonly sessionId: string;
  readonly events: number;
  /** Rows of the log: a run of deltas is one. */
  readonly rows: number;
  /** Payload as stored, compressed where it is. */
  readonly payloadBytes: number;
}

/** Reads the whole log of each session: for a tour, not for a dashboard. */
export async function readLogSizes(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<readonly SessionSize[]> {
  const rows = await db.rows<{
    session_id: string;
    events: number;
    rows: number;
    payload_bytes: number;
  }>(
    {
      text: `
        select session_id, sum(event_count)::bigint as events, count(*) as rows,
               sum(pg_column_size(payload))::bigint as payload_bytes
        from turnlog.events
        where session_id = any($1::text[])
        group by session_id
        order by min(time_ms)`,
    },
    [sessionIds],
  );
  return rows.map((row) => ({
    sessionId: row.session_id,
    events: row.events,
    rows: row.rows,
    payloadBytes: row.payload_bytes,
  }));
}

/** Heap, TOAST and indexes of the log, in bytes. */
export async function readLogBytes(db: Queryable): Promise<number> {
  const [row] = await db.rows<{ bytes: number }>({
    text: "select pg_total_relation_size('turnlog.events') as bytes",
  });
  return row?.bytes ?? 0;
}
