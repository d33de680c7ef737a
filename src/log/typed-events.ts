/** Reads the events of some types, page by page. */
import type { Queryable } from "../db/connect.ts";
import type { SessionEvent } from "../events/event.ts";
import { readPage, type PageRequest } from "./read.ts";
import { eventsOf } from "./stored-row.ts";

export interface TypedRequest extends PageRequest {
  readonly types: readonly string[];
}

/** Yields events of the wanted types from `fromSeq` to before `toSeq`, in order; memory is bounded by the page. */
export async function* readTypedEvents(
  db: Queryable,
  request: TypedRequest,
): AsyncGenerator<SessionEvent> {
  let next = request.fromSeq;
  while (next < request.toSeq) {
    const rows = await readPage(db, { ...request, fromSeq: next });
    for (const row of rows) yield* eventsOf(row);
    const last = rows.at(-1);
    if (last === undefined) return;
    next = last.seq + last.event_count;
  }
}
