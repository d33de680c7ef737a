/** Turns what the database says of an append into its result, or into the error that says why there is none. */
import type { Queryable } from "../db/connect.ts";
import {
  AppendIdReusedError,
  RulesOutdatedError,
  SessionDeletedError,
  SessionNotFoundError,
  WriterFencedError,
  WrongExpectedSeqError,
} from "../errors.ts";
import { readStanding, type AppendAnswer } from "./append-call.ts";
import type { AppendRequest, AppendResult } from "./append-request.ts";
import { isSameAppend } from "./same-append.ts";

/** @throws one error for each outcome that stored nothing */
export async function settleAppend(
  db: Queryable,
  request: AppendRequest,
  expectedSeq: number,
  answer: AppendAnswer,
): Promise<AppendResult> {
  const { sessionId, appendId } = request;
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
      if (await isSameAppend(db, sessionId, request.items, result))
        return { ...result, deduplicated: true };
      throw new AppendIdReusedError({
        sessionId,
        appendId,
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
        expectedSeq,
        actualSeq: result.nextSeq,
      });
  }
}

/**
 * True of a conflict with a log that did not end at the expected seq when it was looked for, and ended there a moment later:
 * the append fits now.
 */
export function hasArrived(
  { outcome, next_seq }: Pick<AppendAnswer, "outcome" | "next_seq">,
  expectedSeq: number,
): boolean {
  return outcome === "conflict" && next_seq === expectedSeq && expectedSeq > 0;
}

/**
 * Settles an append that can't be sent, since the log does not end where it is expected to: there is no state to check
 * it against. It may be a repetition of a stored one. Null when the log ends there by now.
 */
export async function settleElsewhere(
  db: Queryable,
  request: AppendRequest,
  expectedSeq: number,
  digest: Buffer,
): Promise<AppendResult | null> {
  const standing = await readStanding(db, request.sessionId, request.appendId);
  const outcome = outcomeOf(standing, digest);
  const first_seq = standing?.first_seq ?? null;
  const next_seq = standing?.next_seq ?? standing?.head ?? 0;
  const answer = { outcome, first_seq, next_seq, epoch: null };
  return hasArrived(answer, expectedSeq)
    ? null
    : settleAppend(db, request, expectedSeq, answer);
}

function outcomeOf(
  standing: Awaited<ReturnType<typeof readStanding>>,
  digest: Buffer,
): AppendAnswer["outcome"] {
  if (standing === null) return "missing";
  if (standing.digest !== null)
    return standing.digest.equals(digest) ? "duplicate" : "reused";
  return standing.deleted ? "deleted" : "conflict";
}
