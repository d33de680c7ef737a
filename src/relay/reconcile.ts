/** The reconciler: sessions whose builds are behind though neither outbox nor work list knows of it. */
import type { Queryable } from "../db/connect.ts";

export interface Reconciled {
  /** Session to go on after; null when the last one was seen. */
  readonly nextAfter: string | null;
  /** Sessions that were put on the work list. */
  readonly found: number;
}

/**
 * Looks at up to `limit` sessions after `after`, by id, and puts those that were forgotten on the work list; the sweep
 * rings for them. Locks, in order: lock rows, work, for the statement.
 */
export async function reconcile(
  db: Queryable,
  after: string,
  limit: number,
): Promise<Reconciled> {
  const [row] = await db.rows<{
    next_after: string | null;
    session_ids: readonly string[];
  }>(
    {
      name: "turnlog_reconcile_v1",
      text: "select next_after, session_ids from turnlog.reconcile_v1($1, $2)",
    },
    [after, limit],
  );
  return {
    nextAfter: row?.next_after ?? null,
    found: row?.session_ids.length ?? 0,
  };
}
