/** Durations between events, whose clocks may go backwards and reach both ends of the safe integers. */

/** From one time to another in ms; never negative. */
export function elapsedMs(fromMs: number, toMs: number): number {
  return Math.max(0, toMs - fromMs);
}

/** A duration for a column: at most what an integer holds exactly. */
export function storableMs(ms: number): number {
  return Math.min(ms, Number.MAX_SAFE_INTEGER);
}
