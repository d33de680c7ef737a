/** What an event came of, what was made of it, and what took its place on the surface. */
import type { Queryable } from "../db/connect.ts";
import { EventNotFoundError } from "../errors.ts";
import type { SessionId } from "../events/ids.ts";
import { decodeSourceSeqs } from "../events/source-seqs.ts";
import { SurfaceOrder } from "../events/surface.ts";
import { requireSeq } from "./bad-call.ts";
import { readSessionRow } from "./session-row.ts";
import { surfaceOpOf } from "./stored-row.ts";

export interface EventTrace {
  /** The event that replaced it on the surface; null while it stands there, or never did. */
  readonly replacedBy: number | null;
  /** That one, the one that replaced it, and so on to the one that stands there now. */
  readonly replacementChain: readonly number[];
  /** Nodes of the surface that it replaced itself. */
  readonly replacedSeqs: readonly number[];
  /** Events that it names as what it was made from; null when it does not say. */
  readonly sourceSeqs: readonly number[] | null;
  /** Events that name it as what they were made from. */
  readonly derivedSeqs: readonly number[];
}

interface SurfaceRow {
  readonly seq: number;
  readonly surface_op: string;
  readonly source_event_seqs: string | null;
}

/**
 * Reads the places and sources of all surface events of the session, and no payload.
 * @throws EventNotFoundError, SessionNotFoundError, SessionDeletedError
 */
export async function traceEvent(
  db: Queryable,
  sessionId: SessionId,
  seq: number,
): Promise<EventTrace> {
  requireSeq(seq, "seq");
  const { head } = await readSessionRow(db, sessionId);
  if (seq >= head) throw new EventNotFoundError({ sessionId, seq, head });
  const rows = await db.rows<SurfaceRow>(
    {
      name: "turnlog_surface_sources",
      text: `
        select seq, surface_op, source_event_seqs
        from turnlog.events
        where session_id = $1 and seq < $2 and surface_op is not null
        order by seq`,
    },
    [sessionId, head],
  );
  const replacedBy = replacementsIn(rows);
  const own = rows.find((row) => row.seq === seq)?.source_event_seqs ?? null;
  return {
    replacedBy: replacedBy.get(seq) ?? null,
    replacementChain: chainFrom(replacedBy, seq),
    replacedSeqs: [...replacedBy]
      .filter(([, by]) => by === seq)
      .map(([node]) => node),
    sourceSeqs: own === null ? null : decodeSourceSeqs(own),
    derivedSeqs: rows
      .filter(({ source_event_seqs: sources }) =>
        sources === null ? false : decodeSourceSeqs(sources).includes(seq),
      )
      .map((row) => row.seq),
  };
}

/** By node, what replaced it. A stored replacement that does not fit is left out, as everywhere. */
function replacementsIn(
  rows: readonly SurfaceRow[],
): ReadonlyMap<number, number> {
  const surface = new SurfaceOrder();
  const replacedBy = new Map<number, number>();
  for (const { seq, surface_op: text } of rows) {
    const op = surfaceOpOf(text);
    if (op === "append") {
      surface.append(seq);
      continue;
    }
    const shadowed = surface.shadowedBy(op);
    if (typeof shadowed === "string") continue;
    for (const node of shadowed) replacedBy.set(node, seq);
    surface.replace(shadowed, seq);
  }
  return replacedBy;
}

/** Replacements come later than what they replace, so a chain ends. */
function chainFrom(
  replacedBy: ReadonlyMap<number, number>,
  seq: number,
): readonly number[] {
  const chain: number[] = [];
  for (let at = replacedBy.get(seq); at !== undefined; at = replacedBy.get(at))
    chain.push(at);
  return chain;
}
