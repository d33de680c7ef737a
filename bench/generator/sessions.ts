/** Many generated sessions: most are short, a few hold much of the events, as in real stores. */
import { createRandom } from "./random.ts";
import { generateSession, type GeneratedSession } from "./session.ts";

export interface SessionsShape {
  readonly seed: number;
  /** Of all sessions together. */
  readonly events: number;
  /** Events of the middle one: half of the sessions have fewer. */
  readonly medianEvents?: number;
}

const DEFAULT_MEDIAN_EVENTS = 10_000;

/** Yields sessions one by one; each is generated as it is read, so that memory does not grow with their number. */
export function* generateSessions(
  shape: SessionsShape,
): Generator<GeneratedSession> {
  const { seed, events, medianEvents = DEFAULT_MEDIAN_EVENTS } = shape;
  const random = createRandom(seed);
  for (let left = events; left > 0;) {
    const drawn = random.logNormal(medianEvents, 1.2, medianEvents * 100);
    const count = Math.min(drawn, left);
    yield generateSession({ seed: random.bits(), events: count });
    left -= count;
  }
}
