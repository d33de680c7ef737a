/** Reads a session as a person saw it. */
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import {
  createTranscriptFold,
  TRANSCRIPT_TYPES,
  type TranscriptItem,
} from "../events/transcript.ts";
import { readSessionRow } from "./session-row.ts";
import { readTypedEvents } from "./typed-events.ts";

export interface TranscriptOptions {
  /** First seq to show: one more than that of the last item, to go on from there. @defaultValue 0 */
  readonly fromSeq?: number;
  /** Items at most. @defaultValue no limit */
  readonly limit?: number;
}

/**
 * Yields the items of a transcript in log order, as of the moment the reading starts; memory stays bounded however
 * long the log. What the model no longer sees stays in it, and replacements are no items: a compaction is one marker.
 * @throws SessionNotFoundError, SessionDeletedError at the first item.
 */
export async function* readTranscript(
  db: Queryable,
  sessionId: SessionId,
  options: TranscriptOptions = {},
): AsyncGenerator<TranscriptItem> {
  const { fromSeq = 0, limit = Infinity } = options;
  const { head } = await readSessionRow(db, sessionId);
  const fold = createTranscriptFold();
  let count = 0;
  if (limit <= 0) return;
  // One event earlier: the summary of a compaction stands just before the replacement that the marker is for.
  for await (const event of readTypedEvents(db, {
    sessionId,
    fromSeq: Math.max(fromSeq - 1, 0),
    toSeq: head,
    types: TRANSCRIPT_TYPES,
  })) {
    const item = fold.apply(event);
    if (item === null || item.seq < fromSeq) continue;
    yield item;
    count += 1;
    if (count >= limit) return;
  }
}
