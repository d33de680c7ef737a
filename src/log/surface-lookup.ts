/** The surface as of a head, for appends that replace part of it. Most never do, so nobody keeps it. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import {
  nodeOf,
  SurfaceCheck,
  type SurfaceNode,
} from "../events/rules/surface-check.ts";
import { SurfaceOrder } from "../events/surface.ts";
import {
  eventsOf,
  STORED_COLUMNS,
  surfaceOpOf,
  type StoredRow,
} from "./stored-row.ts";

interface SurfaceRow {
  readonly seq: number;
  readonly type: string;
  readonly surface_op: string;
}

/**
 * Reads where each surface event stands, and of the tool results among `rewritten` everything but their content.
 * Valid because the append that uses it compares the head.
 */
export async function readSurface(
  db: Queryable,
  sessionId: SessionId,
  head: number,
  rewritten: readonly number[],
): Promise<SurfaceCheck> {
  const rows = await db.rows<SurfaceRow>(
    {
      name: "turnlog_surface",
      text: `
        select seq, type, surface_op
        from turnlog.events
        where session_id = $1 and seq < $2 and surface_op is not null
        order by seq`,
    },
    [sessionId, head],
  );
  const nodes = new Map<number, SurfaceNode>(
    rows.map(({ seq, type }) => [seq, { type, frame: null }]),
  );
  const originals = await db.rows<StoredRow>(
    {
      name: "turnlog_rewritten",
      text: `
        select ${STORED_COLUMNS}
        from turnlog.events
        where session_id = $1 and seq = any($2::bigint[]) and type = 'tool/result'
        order by seq`,
    },
    [sessionId, rewritten],
  );
  for (const event of originals.flatMap(eventsOf))
    nodes.set(event.seq, nodeOf(event));
  const surface = new SurfaceOrder();
  for (const row of rows) follow(surface, row);
  return new SurfaceCheck(surface, nodes);
}

/** A stored replacement that does not fit is left out, as it would be by whoever reads the log. */
function follow(surface: SurfaceOrder, row: SurfaceRow): void {
  const op = surfaceOpOf(row.surface_op);
  if (op === "append") {
    surface.append(row.seq);
    return;
  }
  const shadowed = surface.shadowedBy(op);
  if (typeof shadowed !== "string") surface.replace(shadowed, row.seq);
}
