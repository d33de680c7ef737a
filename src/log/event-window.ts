/** One event of a log and its neighbours. */
import type { Queryable } from "../db/connect.ts";
import { EventNotFoundError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import type { SessionId } from "../events/ids.ts";
import { badCall, requireSeq } from "./bad-call.ts";
import { readEvents } from "./read.ts";
import { readSessionRow } from "./session-row.ts";

/** Events on either side at most: a window is a look, not a way to read a log. */
const MAX_NEIGHBOURS = 50;

export interface WindowOptions {
  /** Events before it, 50 at most. @defaultValue 0 */
  readonly before?: number;
  /** Events behind it, 50 at most. @defaultValue 0 */
  readonly after?: number;
}

export interface EventWindow {
  readonly event: SessionEvent;
  /** In log order; fewer where the log begins. */
  readonly before: readonly SessionEvent[];
  /** Fewer where the log ends. */
  readonly after: readonly SessionEvent[];
}

/** @throws EventNotFoundError, SessionNotFoundError, SessionDeletedError, EventInvalidError for a window that is too wide */
export async function readEventWindow(
  db: Queryable,
  sessionId: SessionId,
  seq: number,
  options: WindowOptions,
): Promise<EventWindow> {
  requireSeq(seq, "seq");
  const before = requireNeighbours(options.before ?? 0, "before");
  const after = requireNeighbours(options.after ?? 0, "after");
  const { head } = await readSessionRow(db, sessionId);
  const events: SessionEvent[] = [];
  for await (const event of readEvents(db, sessionId, {
    fromSeq: Math.max(0, seq - before),
    toSeq: seq + after + 1,
  }))
    events.push(event);
  const event = events.find((each) => each.seq === seq);
  if (event === undefined)
    throw new EventNotFoundError({ sessionId, seq, head });
  return {
    event,
    before: events.filter((each) => each.seq < seq),
    after: events.filter((each) => each.seq > seq),
  };
}

function requireNeighbours(value: unknown, path: string): number {
  const count = requireSeq(value, path);
  if (count > MAX_NEIGHBOURS)
    throw badCall(path, `must be at most ${MAX_NEIGHBOURS}`);
  return count;
}
