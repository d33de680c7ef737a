/** Tells whether events that were sent again are the stored ones, although their JSON text differs. */
import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../db/connect.ts";
import { isDeltaRun, memberOf } from "../events/delta-run.ts";
import type { CheckedEvent } from "../events/envelope.ts";
import type { SessionEvent } from "../events/event.ts";
import { isSameJson } from "../events/same-json.ts";
import type { SessionId } from "../events/ids.ts";
import { readEvents } from "./read.ts";
import type { AppendItem } from "./take-events.ts";

/** Compares everything the caller gave, whatever the order of keys; a time we stamped is not compared. */
export async function isSameAppend(
  db: Queryable,
  sessionId: SessionId,
  items: readonly AppendItem[],
  stored: { readonly firstSeq: number; readonly nextSeq: number },
): Promise<boolean> {
  const events = items.flatMap(expanded);
  if (events.length !== stored.nextSeq - stored.firstSeq) return false;
  let at = 0;
  for await (const event of readEvents(db, sessionId, {
    fromSeq: stored.firstSeq,
    toSeq: stored.nextSeq,
  })) {
    const given = events[at];
    if (given === undefined || !isSame(given, event)) return false;
    at += 1;
  }
  return at === events.length;
}

function expanded(item: AppendItem): readonly CheckedEvent[] {
  return isDeltaRun(item)
    ? item.texts.map((_, at) => memberOf(item, at))
    : [item];
}

function isSame(given: CheckedEvent, stored: SessionEvent): boolean {
  return (
    given.type === stored.type &&
    (given.time === null || given.time === stored.time) &&
    given.ignorable === (stored.ignorable ?? false) &&
    isDeepStrictEqual(given.surfaceOp, stored.surfaceOp ?? null) &&
    isDeepStrictEqual(given.sourceEventSeqs, stored.sourceEventSeqs ?? null) &&
    isSameJson(given.data, stored.data)
  );
}
