/** Appends a batch to a session: checked, exactly once per append id, at the seq the caller expects. */
import type { Db, Queryable } from "../db/connect.ts";
import { violatedConstraint } from "../db/pg-errors.ts";
import { WrongExpectedSeqError } from "../errors.ts";
import { initRules, type RulesState } from "../events/rules/rules.ts";
import {
  callAppend,
  readStanding,
  type AppendAnswer,
  type AppendCall,
} from "./append-call.ts";
import {
  creationOf,
  type AppendRequest,
  type AppendResult,
  type Creation,
} from "./append-request.ts";
import { checkBatch, placeEvents, requireKnownTypes } from "./check-batch.ts";
import { encodeAppend } from "./encode-append.ts";
import type { EventTypes } from "./event-types.ts";
import { Sending, sendUntilAnswered } from "./send.ts";
import { readStateAt } from "./session-state.ts";
import { hasArrived, settleAppend, settleElsewhere } from "./settle-append.ts";
import type { StateCache } from "./state-cache.ts";

/** What appends of one process share. */
export interface AppendContext {
  readonly db: Db;
  readonly types: EventTypes;
  readonly states: StateCache;
}

/** An append that goes to the end wherever that is loses this often before it takes the row's lock. */
const ANY_ATTEMPTS = 3;

/**
 * Appends the batch in one statement and one commit; a lost connection is met by trying again with the same append id.
 * @param sending what earlier tries have shown
 * @throws EventInvalidError, EventTypeUnknownError, EventTooLargeError, WrongExpectedSeqError, AppendIdReusedError,
 * SessionNotFoundError, SessionDeletedError, WriterFencedError, RulesOutdatedError, SessionBusyError,
 * DatabaseUnavailableError, AppendOutcomeUnknownError
 */
export async function appendEvents(
  context: AppendContext,
  request: AppendRequest,
  sending = new Sending(request),
): Promise<AppendResult> {
  const { expectedSeq } = request;
  if (expectedSeq === "any")
    return sendUntilAnswered(sending, (leftMs) =>
      appendAnywhere(context, request, leftMs),
    );
  return sendUntilAnswered(sending, (leftMs) =>
    appendAt(
      context,
      within(context.db, leftMs),
      request,
      expectedSeq,
      "autocommit",
    ),
  );
}

async function appendAnywhere(
  context: AppendContext,
  request: AppendRequest,
  leftMs: number,
): Promise<AppendResult> {
  const db = within(context.db, leftMs);
  for (let attempt = 0; attempt < ANY_ATTEMPTS; attempt += 1) {
    try {
      return await appendAt(
        context,
        db,
        request,
        await endOf(db, request),
        "autocommit",
      );
    } catch (error) {
      if (!(error instanceof WrongExpectedSeqError)) throw error;
    }
  }
  return appendLocked(context, request, leftMs);
}

/** Takes the session row's lock first, so that nobody can come between look and append. */
function appendLocked(
  context: AppendContext,
  request: AppendRequest,
  leftMs: number,
): Promise<AppendResult> {
  return context.db.transaction(async (tx) => {
    const db = within(tx, leftMs);
    await db.rows({ text: "set local lock_timeout = '5s'" });
    await db.rows(
      {
        text: "select from turnlog.sessions where session_id = $1 for no key update",
      },
      [request.sessionId],
    );
    return appendAt(
      context,
      db,
      request,
      await endOf(db, request),
      "transaction",
    );
  });
}

/** The same connection, with the time that an append has left as the deadline of each statement. */
export function within(db: Queryable, timeoutMs: number): Queryable {
  return {
    rows: (statement, values) => db.rows({ timeoutMs, ...statement }, values),
  };
}

/** Where an append to any seq goes: where it is stored already, or to the head. */
async function endOf(db: Queryable, request: AppendRequest): Promise<number> {
  const standing = await readStanding(db, request.sessionId, request.appendId);
  if (standing === null || standing.deleted) return 0;
  return standing.first_seq ?? standing.head;
}

/** One try at a given seq. */
export async function appendAt(
  context: AppendContext,
  db: Queryable,
  request: AppendRequest,
  expectedSeq: number,
  commit: "autocommit" | "transaction",
): Promise<AppendResult> {
  const { sessionId, appendId } = request;
  const events = placeEvents(request.items, expectedSeq);
  await requireKnownTypes(context.types, events);
  const batch = encodeAppend(events, request.now, request.limits);
  const base = await baseOf(context, db, request, expectedSeq);
  if (base === null)
    return (
      (await settleElsewhere(db, request, expectedSeq, batch.digest)) ??
      appendAt(context, db, request, expectedSeq, commit)
    );
  const { incarnation, creation } = base;
  const state = await checkBatch(db, {
    sessionId,
    firstSeq: expectedSeq,
    state: base.state,
    items: events,
    allowFindings: request.allowFindings,
  }).catch((error: unknown) => {
    if (!base.isRemembered) throw error;
    return null;
  });
  // What does not fit a remembered state may fit the stored one: the session may have been made anew since.
  if (state === null) {
    context.states.forget(sessionId);
    return appendAt(context, db, request, expectedSeq, commit);
  }
  const answer = await send(db, {
    sessionId,
    appendId,
    expectedSeq,
    incarnation,
    creation,
    state,
    batch,
  });
  // Inside a transaction nothing is stored before its commit, so there is nothing to remember.
  if (answer.outcome === "appended" && commit === "autocommit")
    context.states.set(sessionId, {
      head: expectedSeq + batch.eventCount,
      incarnation,
      state,
    });
  else context.states.forget(sessionId);
  // The state we remembered was of a session that has been made anew since, or the log has come to the expected seq.
  const isOver = answer.outcome === "incarnation" && base.isRemembered;
  if (isOver || hasArrived(answer, expectedSeq))
    return appendAt(context, db, request, expectedSeq, commit);
  return settleAppend(db, request, expectedSeq, answer);
}

/** An append id that is stored elsewhere in the session is answered from there: a repetition, or a reuse. */
async function send(db: Queryable, call: AppendCall): Promise<AppendAnswer> {
  try {
    return await callAppend(db, call);
  } catch (error) {
    if (violatedConstraint(error) !== "events_session_id_append_id_idx")
      throw error;
    const standing = await readStanding(db, call.sessionId, call.appendId);
    if (standing === null || standing.digest === null) throw error;
    const outcome = standing.digest.equals(call.batch.digest)
      ? "duplicate"
      : "reused";
    return {
      outcome,
      first_seq: standing.first_seq,
      next_seq: standing.next_seq,
      epoch: null,
    };
  }
}

/** What the batch is checked against. */
interface Base {
  readonly incarnation: string;
  readonly state: RulesState;
  readonly creation: Creation | null;
  readonly isRemembered: boolean;
}

/** Null when the log does not end at the expected seq. */
async function baseOf(
  context: AppendContext,
  db: Queryable,
  request: AppendRequest,
  expectedSeq: number,
): Promise<Base | null> {
  if (expectedSeq === 0) {
    const creation = creationOf(request);
    return {
      incarnation: creation.incarnation,
      state: initRules(creation.header),
      creation,
      isRemembered: false,
    };
  }
  const remembered = context.states.get(request.sessionId);
  if (remembered?.head === expectedSeq)
    return { ...remembered, creation: null, isRemembered: true };
  const stored = await readStateAt(db, request.sessionId, expectedSeq);
  return stored === null
    ? null
    : { ...stored, creation: null, isRemembered: false };
}
