/** The sweep: sessions that should have been folded by now, whatever became of their doorbell. */
import type { Queryable } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";

/** Returns sessions to ring for again, oldest first, at most `limit`. */
export async function sweepWork(
  db: Queryable,
  limit: number,
): Promise<readonly SessionId[]> {
  const rows = await db.rows<{ session_id: string }>(
    {
      name: "turnlog_sweep_v1",
      text: "select session_id from turnlog.sweep_v1($1) as session_id",
    },
    [limit],
  );
  return rows.map((row) => SessionId(row.session_id));
}
