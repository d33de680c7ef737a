/** Read your writes: waits until the read tables have an event. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../db/connect.ts";
import { ProjectionParkedError, WaitTimeoutError } from "../errors.ts";
import type { SessionId } from "../events/ids.ts";
import { readProgress } from "./as-of.ts";

export interface WaitRequest {
  readonly sessionId: SessionId;
  /** Event that must be applied. */
  readonly seq: number;
  /** Next seq after the session's last event that is not a delta, as read when the waiting began. */
  readonly factsHead: number;
  /** Null for all live projections. */
  readonly projections: readonly string[] | null;
  readonly timeoutMs: number;
}

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

/**
 * Deltas by themselves are not folded, so it waits for `seq`, or for the last fact where that comes before.
 * @throws ProjectionUnknownError, ProjectionParkedError at once; WaitTimeoutError after the time.
 */
export async function waitForSeq(
  db: Queryable,
  request: WaitRequest,
): Promise<void> {
  const { sessionId, seq, projections, timeoutMs } = request;
  const target = Math.min(seq + 1, request.factsHead);
  const deadline = performance.now() + timeoutMs;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    ;
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  ) {
    const progress = await readProgress(db, sessionId, projections);
    const behind = progress.filter(({ nextSeq }) => nextSeq < target);
    if (behind.length === 0) return;
    const parked = behind.find(({ isParked }) => isParked);
    if (parked !== undefined)
      throw new ProjectionParkedError({
        projection: parked.projection,
        sessionId,
        seq: parked.parkedAtSeq,
        errorCode: parked.errorCode ?? "UNKNOWN",
      });
    const leftMs = deadline - performance.now();
    if (leftMs <= 0)
      throw new WaitTimeoutError({
        sessionId,
        seq,
        timeoutMs,
        behind: behind.map(({ projection }) => projection),
      });
    await sleep(Math.min(pauseMs, leftMs));
  }
}
