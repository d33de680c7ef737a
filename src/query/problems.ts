/** What is wrong with the flow of appends into the read tables, in words that say what to do. */
import type { PipelineFlow } from "./status.ts";

export interface Problem {
  /** Stable name. */
  readonly code:
    "NO_RELAY" | "OUTBOX_WAITS" | "WORK_WAITS" | "PARKED" | "REDIS_UNREACHABLE";
  /** The read tables stand still because of it. */
  readonly isFatal: boolean;
  readonly message: string;
}

/** A relay that lives takes an append in well under a second, and projectors a session soon after. */
const OUTBOX_PATIENCE_MS = 10_000;
const WORK_PATIENCE_MS = 60_000;

/** @param redis null where no Redis is set */
export function problemsOf(
  { relay, outbox, work, projections }: PipelineFlow,
  redis: {
    readonly isReachable: boolean;
    readonly reason: string | null;
  } | null,
): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (
    code: Problem["code"],
    isFatal: boolean,
    message: string,
  ): void => {
    problems.push({ code, isFatal, message });
  };
  if (!relay.isAlive)
    add(
      "NO_RELAY",
      true,
      `no relay leads${relay.holder === null ? "" : `, for ${seconds(-relay.leaseMs)}`}: run turnlog start or workers/relay`,
    );
  if ((outbox.oldestMs ?? 0) > OUTBOX_PATIENCE_MS)
    add(
      "OUTBOX_WAITS",
      true,
      `an append has waited ${seconds(outbox.oldestMs)} for a relay: look at its log`,
    );
  if ((work.oldestMs ?? 0) > WORK_PATIENCE_MS)
    add(
      "WORK_WAITS",
      true,
      `a session has waited ${seconds(work.oldestMs)} to be folded: is a projector running that has every projection?`,
    );
  const parked = projections.reduce((sum, one) => sum + one.parked, 0);
  if (parked > 0)
    add("PARKED", false, `${parked} parked: see turnlog parked list`);
  if (redis?.isReachable === false)
    add(
      "REDIS_UNREACHABLE",
      false,
      `Redis is not reachable from here (${redis.reason}): projectors claim work from Postgres`,
    );
  return problems;
}

function seconds(ms: number | null): string {
  return `${Math.round((ms ?? 0) / 1000)} s`;
}
