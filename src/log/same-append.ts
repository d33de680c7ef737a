/** Tells whether events that were sent again are the stored ones, although their JSON text differs. */
import { isDeepStrictEqual } from "node:util";
import type { Queryable } from "../db/connect.ts";
import type { NewEvent } from "../events/event.ts";
import type { SessionId } from "../events/ids.ts";
import { detachJson } from "../events/lossless-json.ts";
import { readEvents } from "./read.ts";

/** Compares everything the caller gave, whatever the order of keys; a time we stamped is not compared. */
export async function isSameAppend(
  db: Queryable,
  sessionId: SessionId,
  events: readonly NewEvent[],
  stored: { readonly firstSeq: number; readonly nextSeq: number },
): Promise<boolean> {
  if (events.length !== stored.nextSeq - stored.firstSeq) return false;
  let at = 0;
  for await (const event of readEvents(db, sessionId, {
    fromSeq: stored.firstSeq,
    toSeq: stored.nextSeq,
  })) {
    const { seq, time, ...rest } = event;
    const given = events[at];
    if (given === undefined || seq !== stored.firstSeq + at) return false;
    if (given.time !== undefined && given.time !== time) return false;
    const { time: _time, seq: _seq, ...sent } = given;
    if (!isDeepStrictEqual(detachJson({ ...sent }), detachJson(rest)))
      return false;
    at += 1;
  }
  return at === events.length;
}
