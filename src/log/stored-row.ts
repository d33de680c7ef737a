/** A row of the log as it is stored, and the events it stands for. */
import { LogCorruptError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import { expandRun } from "../events/expand-runs.ts";
import { inKeyOrder } from "../events/key-order.ts";
import { parseJson } from "../events/json.ts";
import { decodeSourceSeqs } from "../events/source-seqs.ts";
import { parseSurfaceOp } from "../events/surface.ts";
import { isStorageTag } from "../events/vocabulary.ts";

export interface StoredRow {
  readonly seq: number;
  readonly event_count: number;
  readonly type: string;
  readonly time_ms: number;
  readonly ignorable: boolean;
  readonly surface_op: string | null;
  readonly source_event_seqs: string | null;
  readonly key_order: string | null;
  readonly payload: string;
}

/** Columns of a StoredRow, for select lists. */
export const STORED_COLUMNS =
  "seq, event_count, type, time_ms, ignorable, surface_op, source_event_seqs, key_order, payload";

/** The events of a row, in order: one, or all of a run. */
export function eventsOf(row: StoredRow): SessionEvent[] {
  const data = parseJson(row.payload);
  if (isStorageTag(row.type))
    return expandRun(
      { type: row.type, seq0: row.seq, time0: row.time_ms },
      data,
    );
  const envelope = { type: row.type, seq: row.seq, time: row.time_ms, data };
  if (!row.ignorable && row.surface_op === null && row.key_order === null)
    return [envelope];
  const event: SessionEvent = {
    ...envelope,
    ...(row.ignorable ? { ignorable: true } : {}),
    ...(row.source_event_seqs === null
      ? {}
      : { sourceEventSeqs: decodeSourceSeqs(row.source_event_seqs) }),
    ...(row.surface_op === null
      ? {}
      : { surfaceOp: surfaceOpOf(row.surface_op) }),
  };
  return [inKeyOrder(event, row.key_order)];
}

export function surfaceOpOf(
  text: string,
): NonNullable<SessionEvent["surfaceOp"]> {
  const op = parseSurfaceOp(text === "append" ? text : parseJson(text));
  if (op === null)
    throw new LogCorruptError(
      `A stored surface operation reads ${JSON.stringify(text)}.`,
    );
  return op;
}
