/** Sends a writer's batch: fenced, at exactly its seqs, under its append id, until the database answers. */
import type { Queryable } from "../db/connect.ts";
import type { AppendId } from "../events/ids.ts";
import { callAppend } from "../log/append-call.ts";
import { within } from "../log/append.ts";
import type { AppendRequest, Creation } from "../log/append-request.ts";
import type { PlacedEvent } from "../log/check-batch.ts";
import { encodeAppend, type SizeLimits } from "../log/encode-append.ts";
import { Sending, sendUntilAnswered } from "../log/send.ts";
import { settleAppend } from "../log/settle-append.ts";
import type { Batch } from "./batches.ts";
import type { Hold } from "./hold.ts";

export interface BatchTarget {
  readonly db: Queryable;
  readonly hold: Hold;
  /** Null unless the batch creates the session. */
  readonly creation: Creation | null;
  readonly limits: SizeLimits;
  /** How long the batch shows its writer to be alive, in ms. */
  readonly holdMs: number;
  /** How long a lost connection is met by sending again, in ms. */
  readonly timeoutMs: number;
}

/**
 * Locks the session row while the statement runs.
 * @throws WriterFencedError, WrongExpectedSeqError, SessionDeletedError, RulesOutdatedError: nothing was stored, and never
 * will be; DatabaseUnavailableError, SessionBusyError: nothing was stored; AppendOutcomeUnknownError: it may be. The same
 * batch can be sent again after these three.
 */
export async function storeBatch(
  target: BatchTarget,
  batch: Omit<Batch, "dueAt" | "isSealed" | "characters">,
): Promise<void> {
  const { db, hold, creation, holdMs } = target;
  const { sessionId, incarnation, epoch } = hold;
  const { appendId, firstSeq: expectedSeq, state } = batch;
  const request = requestOf(target, batch);
  batch.encoded ??= encodeAppend(batch.events, batch.now, target.limits);
  const encoded = batch.encoded;
  await sendUntilAnswered(new Sending(request), async (leftMs) => {
    const connection = within(db, leftMs);
    const answer = await callAppend(connection, {
      sessionId,
      appendId,
      expectedSeq,
      incarnation,
      creation,
      state,
      batch: encoded,
      writer: { epoch, holdMs },
    });
    return settleAppend(connection, request, expectedSeq, answer);
  });
}

/** What an append is known by. */
interface Sendable {
  readonly appendId: AppendId;
  readonly firstSeq: number;
  readonly events: readonly PlacedEvent[];
  readonly now: number;
}

/** The batch as an append, for what looks at appends. */
export function requestOf(
  {
    hold,
    limits,
    timeoutMs,
  }: Pick<BatchTarget, "hold" | "limits" | "timeoutMs">,
  { appendId, events, firstSeq, now }: Sendable,
): AppendRequest {
  return {
    sessionId: hold.sessionId,
    appendId,
    items: events,
    expectedSeq: firstSeq,
    header: {},
    tenant: null,
    recreate: false,
    allowFindings: false,
    now,
    timeoutMs,
    limits,
  };
}
