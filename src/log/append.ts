/** Appends a batch to a session: checked, exactly once per append id, at the seq the caller expects. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Queryable } from "../db/connect.ts";
import {
  isTransient,
  violatedConstraint,
  wasNeverSent,
} from "../db/pg-errors.ts";
import {
  AppendIdReusedError,
  AppendOutcomeUnknownError,
  DatabaseUnavailableError,
  EventInvalidError,
  RulesOutdatedError,
  SessionBusyError,
  SessionDeletedError,
  SessionNotFoundError,
  WriterFencedError,
  WrongExpectedSeqError,
} from "../errors.ts";
import type { NewEvent } from "../events/event.ts";
import { parseHeader, type NewSessionHeader } from "../events/header.ts";
import type { AppendId, SessionId } from "../events/ids.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { detachJson, NotLosslessError } from "../events/lossless-json.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import {
  callAppend,
  readStanding,
  type AppendAnswer,
  type AppendCall,
} from "./append-call.ts";
import { encodeAppend } from "./encode-append.ts";
import { isSameAppend } from "./same-append.ts";

export interface AppendRequest {
  readonly sessionId: SessionId;
  readonly appendId: AppendId;
  readonly events: readonly NewEvent[];
  /** Seq the first event gets: the number of events now, 0 for a new session; `any` appends at the end, whatever it is. */
  readonly expectedSeq: number | "any";
  /** For a new session. */
  readonly header: NewSessionHeader;
  readonly tenant: string | null;
  readonly recreate: boolean;
  /** Epoch ms stamped on events without a time. */
  readonly now: number;
  /** How long a lost connection is met by sending again, in ms. */
  readonly timeoutMs: number;
}

export interface AppendResult {
  readonly firstSeq: number;
  /** Expected seq of the next append. */
  readonly nextSeq: number;
  /** True when this append id was stored before: nothing was added now. */
  readonly deduplicated: boolean;
}

/** An append that goes to the end wherever that is loses this often before it takes the row's lock. */
const ANY_ATTEMPTS = 3;
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;

/**
 * Appends the batch in one statement and one commit; a lost connection is met by sending the same append again.
 * @throws EventInvalidError, WrongExpectedSeqError, AppendIdReusedError, SessionNotFoundError, SessionDeletedError,
 * WriterFencedError, RulesOutdatedError, SessionBusyError, DatabaseUnavailableError, AppendOutcomeUnknownError
 */
export async function appendEvents(
  db: Db,
  request: AppendRequest,
): Promise<AppendResult> {
  const { expectedSeq } = request;
  if (expectedSeq !== "any") return appendAt(db, request, expectedSeq);
  for (let attempt = 0; attempt < ANY_ATTEMPTS; attempt += 1) {
    const standing = await readStanding(
      db,
      request.sessionId,
      request.appendId,
    );
    try {
      return await appendAt(db, request, standing.first_seq ?? standing.head);
    } catch (error) {
      if (!(error instanceof WrongExpectedSeqError)) throw error;
    }
  }
  return appendLocked(db, request);
}

/** Takes the session row's lock first, so that nobody can come between look and append. */
function appendLocked(db: Db, request: AppendRequest): Promise<AppendResult> {
  return db.transaction(async (tx) => {
    await tx.rows(
      {
        text: "select from turnlog.sessions where session_id = $1 for no key update",
      },
      [request.sessionId],
    );
    const standing = await readStanding(
      tx,
      request.sessionId,
      request.appendId,
    );
    const call = callOf(request, standing.first_seq ?? standing.head);
    return settle(
      tx,
      request,
      call,
      await callAppend(tx, call, request.timeoutMs),
    );
  });
}

async function appendAt(
  db: Db,
  request: AppendRequest,
  expectedSeq: number,
): Promise<AppendResult> {
  const call = callOf(request, expectedSeq);
  return settle(db, request, call, await sendUntilAnswered(db, request, call));
}

function callOf(request: AppendRequest, expectedSeq: number): AppendCall {
  if (!Number.isSafeInteger(expectedSeq) || expectedSeq < 0)
    throw badCall("expectedSeq", "must be a seq or 'any'");
  const isNew = expectedSeq === 0;
  return {
    sessionId: request.sessionId,
    appendId: request.appendId,
    expectedSeq,
    incarnation: isNew ? randomUUID() : null,
    header: isNew ? headerText(request) : null,
    tenant: isNew ? request.tenant : null,
    recreate: isNew && request.recreate,
    batch: encodeAppend(request.events, expectedSeq, request.now),
  };
}

/** Sends until the server answers; each try is the same append, so it is stored once at most. */
async function sendUntilAnswered(
  db: Db,
  request: AppendRequest,
  call: AppendCall,
): Promise<AppendAnswer> {
  const deadline = performance.now() + request.timeoutMs;
  let maybeStored = false;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    ;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  ) {
    try {
      return await sendOnce(
        db,
        request,
        call,
        Math.max(1, deadline - performance.now()),
      );
    } catch (error) {
      const isLost = error instanceof DatabaseUnavailableError;
      if (!isLost && !isTransient(error)) throw error;
      maybeStored ||= isLost && !wasNeverSent(error);
      if (performance.now() + pauseMs < deadline) await sleep(pauseMs);
      else if (maybeStored)
        throw new AppendOutcomeUnknownError({
          ...identityOf(request),
          cause: error,
        });
      else if (isLost) throw error;
      else
        throw new SessionBusyError({
          sessionId: request.sessionId,
          cause: error,
        });
    }
  }
}

/** An append id that is stored elsewhere in the session is answered from there: a repetition, or a reuse. */
async function sendOnce(
  db: Db,
  request: AppendRequest,
  call: AppendCall,
  timeoutMs: number,
): Promise<AppendAnswer> {
  try {
    return await callAppend(db, call, timeoutMs);
  } catch (error) {
    if (violatedConstraint(error) !== "events_session_id_append_id_idx")
      throw error;
    const { first_seq: firstSeq } = await readStanding(
      db,
      request.sessionId,
      request.appendId,
    );
    return callAppend(
      db,
      firstSeq === null ? call : callOf(request, firstSeq),
      timeoutMs,
    );
  }
}

/** Turns an answer into the result, or into the error that says why there is none. */
async function settle(
  db: Queryable,
  request: AppendRequest,
  call: AppendCall,
  answer: AppendAnswer,
): Promise<AppendResult> {
  const { sessionId } = request;
  const result = {
    firstSeq: answer.first_seq ?? 0,
    nextSeq: answer.next_seq ?? 0,
  };
  switch (answer.outcome) {
    case "appended":
      return { ...result, deduplicated: false };
    case "duplicate":
      return { ...result, deduplicated: true };
    case "reused":
      // The digest is of exact text; the same events with their keys in another order are still the same append.
      if (await isSameAppend(db, sessionId, request.events, result))
        return { ...result, deduplicated: true };
      throw new AppendIdReusedError({
        ...identityOf(request),
        firstSeq: result.firstSeq,
      });
    case "missing":
      throw new SessionNotFoundError({ sessionId });
    case "deleted":
    case "incarnation":
      throw new SessionDeletedError({ sessionId });
    case "fenced":
      throw new WriterFencedError({ sessionId, epoch: answer.epoch ?? 0 });
    case "rules":
      throw new RulesOutdatedError({ sessionId });
    case "conflict":
      throw new WrongExpectedSeqError({
        sessionId,
        expectedSeq: call.expectedSeq,
        actualSeq: result.nextSeq,
      });
  }
}

function headerText(request: AppendRequest): string {
  const { header, sessionId, now } = request;
  try {
    const given = detachJson({
      createdAt: now,
      delegationDepth: 0,
      ...header,
      version: 0,
      id: sessionId,
    });
    return stringifyJson({ ...parseHeader(given) });
  } catch (error) {
    if (error instanceof RuleViolation)
      throw badCall(`header.${error.path}`, error.reason);
    if (error instanceof NotLosslessError)
      throw badCall(`header${error.path}`, error.reason);
    throw error;
  }
}

function badCall(path: string, reason: string): EventInvalidError {
  return new EventInvalidError({
    index: null,
    seq: null,
    type: null,
    rule: "call",
    path,
    reason,
  });
}

function identityOf(request: AppendRequest): {
  readonly sessionId: string;
  readonly appendId: string;
} {
  return { sessionId: request.sessionId, appendId: request.appendId };
}
