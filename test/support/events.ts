/** Small events for tests, and what a store holds. */
import type { NewEvent, SessionEvent } from "../../src/events/event.ts";
import type { SessionStore } from "../../src/session-store.ts";

/** A fact that may stand anywhere. */
export function note(text = "note"): NewEvent {
  return { type: "feedback/record", data: { text } };
}

export function notes(count: number): NewEvent[] {
  return Array.from({ length: count }, (_, at) => note(`note ${at}`));
}

/** A human prompt. */
export function prompt(text: string, time?: number): NewEvent {
  const data = {
    id: `m-${text}`,
    role: "user",
    content: [{ type: "text", text }],
    source: { kind: "user" },
  };
  const event = { type: "user/message", data, surfaceOp: "append" } as const;
  return time === undefined ? event : { ...event, time };
}

/** Consecutive text deltas of one block. */
export function deltas(
  texts: readonly string[],
  place = { turn: 1, step: 1 },
): NewEvent[] {
  return texts.map((text) => ({
    type: "assistant/chunk",
    data: { ...place, chunk: { type: "text-delta", index: 0, text } },
  }));
}

/** Every event of a session. */
export async function collect(
  store: SessionStore,
  sessionId: string,
  fromSeq = 0,
): Promise<SessionEvent[]> {
  const events: SessionEvent[] = [];
  for await (const event of store.read(sessionId, { fromSeq }))
    events.push(event);
  return events;
}
