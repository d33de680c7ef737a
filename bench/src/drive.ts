/** Writers that append as fast as they are answered, for a while. */
import { randomUUID } from "node:crypto";
import type { BenchEvent, Contender } from "./contenders/contender.ts";

export interface Load {
  readonly writers: number;
  readonly eventsPerAppend: number;
  /** What every writer appends to a session of its own; when it is used up, to the next one. */
  readonly log: readonly BenchEvent[];
  /** One session for all writers, appended to at its end. */
  readonly shared?: boolean;
}

export interface Throughput {
  readonly events: number;
  readonly seconds: number;
  /** Of each append, in ms. */
  readonly latencies: readonly number[];
}

/** Lets the writers run for this long, and waits for the appends they have begun. */
export async function drive(
  contender: Contender,
  load: Load,
  forMs: number,
): Promise<Throughput> {
  const latencies: number[] = [];
  let events = 0;
  const sharedId = await sharedSession(contender, load);
  const beganAt = performance.now();
  const until = beganAt + forMs;
  const write = async (): Promise<void> => {
    for (const append of appendsOf(load, sharedId)) {
      const sentAt = performance.now();
      if (sentAt >= until) return;
      await contender.append(append.sessionId, append.events, append.at);
      latencies.push(performance.now() - sentAt);
      events += append.events.length;
    }
  };
  await Promise.all(Array.from({ length: load.writers }, write));
  return { events, seconds: (performance.now() - beganAt) / 1_000, latencies };
}

/** A session that is there when all writers come to it; null where each has its own. */
export async function sharedSession(
  contender: Contender,
  { log, shared = false }: Load,
): Promise<string | null> {
  if (!shared) return null;
  const sessionId = randomUUID();
  await contender.append(sessionId, log.slice(0, 1), "any");
  return sessionId;
}

/** What one writer appends, without an end: to the shared session, or to one new session after the other. */
export function* appendsOf(load: Load, sharedId: string | null = null) {
  const { eventsPerAppend, log } = load;
  for (;;) {
    const sessionId = sharedId ?? randomUUID();
    for (let seq = 0; seq < log.length; seq += eventsPerAppend) {
      const events = log.slice(seq, seq + eventsPerAppend);
      const at = sharedId === null ? seq : ("any" as const);
      yield { sessionId, events, at };
    }
  }
}
