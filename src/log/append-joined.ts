/** An append inside a transaction of the caller's: stored by its commit, or not at all. */
import { joinTransaction, type CallerTransaction } from "../db/joined.ts";
import type { Queryable } from "../db/connect.ts";
import { isTransient } from "../db/pg-errors.ts";
import { SessionBusyError, WrongExpectedSeqError } from "../errors.ts";
import { appendAt, type AppendContext } from "./append.ts";
import { readStanding } from "./append-call.ts";
import type { AppendRequest, AppendResult } from "./append-request.ts";

/**
 * Sends the append once, on the caller's connection. Locks the session row until the caller's transaction ends.
 * @throws TransactionUnsuitableError; what `append` throws. A conflict and a refused event leave the transaction usable;
 * SessionBusyError and DatabaseUnavailableError mean that it is lost, and all of it may be tried again
 */
export async function appendJoined(
  context: AppendContext,
  request: AppendRequest,
  tx: CallerTransaction,
): Promise<AppendResult> {
  const { sessionId } = request;
  try {
    const db = await joinTransaction(tx);
    return await appendIn(context, db, request);
  } catch (error) {
    if (isTransient(error))
      throw new SessionBusyError({ sessionId, cause: error });
    throw error;
  }
}

/** One to any seq finds a session that somebody else has just created at its second try, and locks it. */
async function appendIn(
  context: AppendContext,
  db: Queryable,
  request: AppendRequest,
): Promise<AppendResult> {
  const append = async (): Promise<AppendResult> =>
    appendAt(context, db, request, await placeOf(db, request), "transaction");
  try {
    return await append();
  } catch (error) {
    const isOvertaken =
      request.expectedSeq === "any" && error instanceof WrongExpectedSeqError;
    if (!isOvertaken) throw error;
    return append();
  }
}

/**
 * Where the append goes. One that is stored already is looked up first: to run into the index would end the caller's
 * transaction. For `any` the session is locked before, so that nobody can come in between.
 */
async function placeOf(db: Queryable, request: AppendRequest): Promise<number> {
  const { sessionId, appendId, expectedSeq } = request;
  if (expectedSeq === "any")
    await db.rows({ text: "select turnlog.lock_session_v1($1)" }, [sessionId]);
  const standing = await readStanding(db, sessionId, appendId);
  if (standing?.first_seq != null) return standing.first_seq;
  if (expectedSeq !== "any") return expectedSeq;
  return standing === null || standing.deleted ? 0 : standing.head;
}
