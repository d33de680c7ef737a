/** One drain: outbox to feed and work, in one call and one commit. */
import type { Queryable } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";

export interface Drained {
  /** Appends that were moved. */
  readonly appends: number;
  /** Sessions with facts among them, to be rung for. */
  readonly sessionIds: readonly SessionId[];
}

export interface DrainRequest {
  readonly holder: string;
  readonly fence: number;
  /** Appends to pick; the earlier ones of a picked session come on top. */
  readonly limit: number;
  readonly ttlMs: number;
}

/** Returns null when the lease is no longer ours: then nothing was done. */
export async function drainOutbox(
  db: Queryable,
  request: DrainRequest,
): Promise<Drained | null> {
  const { holder, fence, limit, ttlMs } = request;
  const [row] = await db.rows<{
    drained: number | null;
    session_ids: string[] | null;
  }>(
    {
      name: "turnlog_drain_v1",
      text: "select drained, session_ids from turnlog.drain_v1($1, $2, $3, $4)",
    },
    [holder, fence, limit, ttlMs],
  );
  if (row === undefined || row.drained === null) return null;
  return {
    appends: row.drained,
    sessionIds: (row.session_ids ?? []).map(SessionId),
  };
}

/** True when a drain has something to do: appends above the floor, or a floor that can rise. Cheaper than to drain. */
export async function hasOutbox(db: Queryable): Promise<boolean> {
  const [row] = await db.rows<{ any: boolean }>({
    name: "turnlog_has_outbox",
    text: `
      select exists (select from turnlog.outbox o where o.id > l.floor_id)
             or l.next_floor_id > l.floor_id
                and (l.next_floor_xid = 0
                     or pg_snapshot_xmin(pg_current_snapshot())::text::bigint > l.next_floor_xid) as any
      from turnlog.lease l
      where l.lane = 0`,
  });
  return row?.any ?? false;
}
