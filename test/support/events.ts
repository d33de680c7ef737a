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

/** Opens turn 1 and its step 1: two events. */
export function openStep(): NewEvent[] {
  return [
    { type: "turn/start", data: { turn: 1 } },
    { type: "step/start", data: { turn: 1, step: 1 } },
  ];
}

/** An event of a type that nobody knows, with any data. */
export function anything(data: unknown): NewEvent {
  return { type: "test/anything", data, ignorable: true };
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
