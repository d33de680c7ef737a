/** An append that a writer is given again: it waits here already, or it is stored. */
import { isDeepStrictEqual } from "node:util";
import { AppendIdReusedError } from "../errors.ts";
import type { CheckedEvent } from "../events/envelope.ts";
import type { AppendId } from "../events/ids.ts";
import { readStanding } from "../log/append-call.ts";
import type { AppendResult } from "../log/append-request.ts";
import { placeEvents, type PlacedEvent } from "../log/check-batch.ts";
import { encodeAppend } from "../log/encode-append.ts";
import { settleElsewhere } from "../log/settle-append.ts";
import type { Batches } from "./batches.ts";
import { requestOf, type BatchTarget } from "./store-batch.ts";

/**
 * Where the events of this append id are; null when nowhere.
 * @throws AppendIdReusedError when the id stands for other events
 */
export async function knownAppend(
  target: BatchTarget,
  batches: Batches,
  given: readonly CheckedEvent[],
  appendId: AppendId,
): Promise<AppendResult | null> {
  const { sessionId } = target.hold;
  const waiting = batches.find(appendId);
  if (waiting !== undefined) {
    const { firstSeq, events } = waiting;
    if (!isDeepStrictEqual(events.map(contentOf), given.map(contentOf)))
      throw new AppendIdReusedError({ sessionId, appendId, firstSeq });
    const nextSeq = firstSeq + events.length;
    return { firstSeq, nextSeq, deduplicated: false };
  }
  const standing = await readStanding(target.db, sessionId, appendId);
  if (standing === null || standing.first_seq === null) return null;
  const firstSeq = standing.first_seq;
  const events = placeEvents(given, firstSeq);
  const again = { appendId, events, firstSeq, now: Date.now() };
  const { digest } = encodeAppend(events, again.now, target.limits);
  const request = requestOf(target, again);
  return settleElsewhere(target.db, request, firstSeq, digest);
}

/** An event without the seq that it has been given, by the caller or by us. */
function contentOf(event: CheckedEvent | PlacedEvent): object {
  return { ...event, seq: null, givenSeq: null };
}
