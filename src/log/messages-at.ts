/** The derived messages as they were: what the model saw after a given event. */
import type { Queryable } from "../db/connect.ts";
import { EventNotFoundError } from "../errors.ts";
import {
  createMessageFold,
  type DerivedMessage,
} from "../events/derive-messages.ts";
import type { SessionId } from "../events/ids.ts";
import { isSeq } from "../events/json.ts";
import { SURFACE_TYPES } from "../events/vocabulary.ts";
import { readSessionRow } from "./session-row.ts";
import { readTypedEvents } from "./typed-events.ts";

/**
 * The messages that the model sees after event `seq`, in its order and verbatim. Reads the log, not the read tables,
 * and of the log only messages and tool results.
 * @throws EventNotFoundError when the log has no such event
 * @throws SessionNotFoundError, SessionDeletedError
 */
export async function readMessagesAt(
  db: Queryable,
  sessionId: SessionId,
  seq: number,
): Promise<DerivedMessage[]> {
  const { head } = await readSessionRow(db, sessionId);
  if (!isSeq(seq) || seq >= head)
    throw new EventNotFoundError({ sessionId, seq, head });
  const fold = createMessageFold();
  for await (const event of readTypedEvents(db, {
    sessionId,
    fromSeq: 0,
    toSeq: seq + 1,
    types: SURFACE_TYPES,
  }))
    fold.apply(event);
  return fold.messages();
}
