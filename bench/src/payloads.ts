/** Events for appends of one and of a hundred: the facts of a log in real shape, and as many deltas as make three fifths. */
import type { SessionEvent } from "../../src/events/event.ts";
import { isDelta } from "../../src/events/event.ts";
import { createRandom } from "../generator/random.ts";
import { generateSession } from "../generator/session.ts";

/** Of 98 deltas to 2 facts this leaves 3 to 2. */
const KEPT_DELTAS = 3 / 98;

/** A log of its own: seqs count from 0, and no event cites those that were left out. */
export function thinnedLog(seed: number, events: number): SessionEvent[] {
  const random = createRandom(seed);
  const log: SessionEvent[] = [];
  for (const event of generateSession({ seed, events: events * 60 }).events) {
    if (log.length === events) break;
    if (isDelta(event) && !random.chance(KEPT_DELTAS)) continue;
    const { sourceEventSeqs: _sources, ...rest } = event;
    log.push({ ...rest, seq: log.length });
  }
  return log;
}
