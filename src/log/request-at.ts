/** Model requests as they were sent: made again from the log before their first chunk. */
import type { Queryable } from "../db/connect.ts";
import { RequestNotFoundError } from "../errors.ts";
import {
  createMessageFold,
  type DerivedMessage,
} from "../events/derive-messages.ts";
import type { SessionId } from "../events/ids.ts";
import { isSeq, type JsonObject } from "../events/json.ts";
import {
  ATTEMPT_TYPES,
  createAttemptFold,
  type RequestAttempt,
} from "../events/request-attempts.ts";
import { headerOf } from "../events/request-header.ts";
import { STORAGE_TAGS, SURFACE_TYPES } from "../events/vocabulary.ts";
import { readSessionRow } from "./session-row.ts";
import { readTypedEvents } from "./typed-events.ts";

export interface RequestQuery {
  readonly turn: number;
  readonly step: number;
  /** Which try of the step, from 1. @defaultValue the last one that an answer came of */
  readonly attempt?: number;
}

/** A request as it was sent, but for the bytes of images, which the log only names. */
export interface RecordedRequest {
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** What became of it: an answer, nothing, or not yet known. */
  readonly outcome: RequestAttempt["outcome"];
  /** The request was made from the events before this one. */
  readonly beforeSeq: number;
  /** Latest `request/header` before it, in canonical form; null when the log has none. */
  readonly header: JsonObject | null;
  /** In the model's order, verbatim. */
  readonly messages: readonly DerivedMessage[];
}

/**
 * The request of one attempt at a step. Attempts without any chunk count too: a failure that `llm/retry` records, and
 * an answer that was not streamed.
 * @throws RequestNotFoundError when the log has no such step or attempt
 * @throws SessionNotFoundError, SessionDeletedError
 */
export async function readRequestAt(
  db: Queryable,
  sessionId: SessionId,
  query: RequestQuery,
): Promise<RecordedRequest> {
  const { head } = await readSessionRow(db, sessionId);
  const attempts = await readAttempts(db, sessionId, query, head);
  const attempt =
    query.attempt === undefined
      ? attempts.findLast(({ outcome }) => outcome === "message")
      : attempts[query.attempt - 1];
  if (attempt === undefined) {
    const { turn, step, attempt: asked = null } = query;
    throw new RequestNotFoundError({
      sessionId,
      turn,
      step,
      attempt: asked,
      attemptCount: attempts.length,
    });
  }
  const beforeSeq = attempt.firstSeq;
  return {
    turn: query.turn,
    step: query.step,
    attempt: attempt.number,
    outcome: attempt.outcome,
    beforeSeq,
    ...(await readRequestBefore(db, sessionId, beforeSeq)),
  };
}

async function readAttempts(
  db: Queryable,
  sessionId: SessionId,
  query: RequestQuery,
  head: number,
): Promise<readonly RequestAttempt[]> {
  const start = await stepStart(db, sessionId, query);
  if (start === null) return [];
  const fold = createAttemptFold(query);
  for await (const event of readTypedEvents(db, {
    sessionId,
    fromSeq: start + 1,
    toSeq: head,
    types: [...ATTEMPT_TYPES, ...STORAGE_TAGS],
  }))
    if (!fold.apply(event)) break;
  return fold.attempts;
}

/** Seq of the step's start; null when the log has no such step. */
async function stepStart(
  db: Queryable,
  sessionId: SessionId,
  { turn, step }: RequestQuery,
): Promise<number | null> {
  if (!isSeq(turn) || !isSeq(step)) return null;
  const [row] = await db.rows<{ seq: number }>(
    {
      name: "turnlog_step_start",
      text: `
        select seq
        from turnlog.events
        where session_id = $1 and type = 'step/start' and turn = $2 and step = $3
        order by seq
        limit 1`,
    },
    [sessionId, turn, step],
  );
  return row?.seq ?? null;
}

async function readRequestBefore(
  db: Queryable,
  sessionId: SessionId,
  toSeq: number,
): Promise<Pick<RecordedRequest, "header" | "messages">> {
  const fold = createMessageFold();
  let header: JsonObject | null = null;
  for await (const event of readTypedEvents(db, {
    sessionId,
    fromSeq: 0,
    toSeq,
    types: [...SURFACE_TYPES, "request/header"],
  })) {
    if (event.type === "request/header") header = headerOf(event.data);
    fold.apply(event);
  }
  return { header, messages: fold.messages() };
}
