/** How soon a lost connection to Redis is tried again: within a second of its return. */

const LONGEST_MS = 1_000;
const STEP_MS = 100;

/** Pause before the attempt of this number (from 1), in ms. */
export function reconnectDelayMs(attempt: number): number {
  return Math.min(attempt * STEP_MS, LONGEST_MS);
}
