/** The queues of pending input: each splice must fit the queue it edits. */
import { member } from "../event.ts";
import { isJsonArray, isSeq, type JsonValue } from "../json.ts";
import { violate, type RuleEvent } from "./rule-event.ts";

/** Ids of the messages in each queue. */
export interface InboxState {
  readonly "next-turn": readonly string[];
  readonly "next-step": readonly string[];
}

export const initInbox: InboxState = { "next-turn": [], "next-step": [] };

/** A child must not execute its parent's queue, so splices below `seedLength` are passed over. */
export function applyInbox(
  state: InboxState,
  event: RuleEvent,
  seedLength: number,
): InboxState {
  if (event.type !== "agent/inbox/spliced" || event.seq < seedLength)
    return state;
  const target = member(event.data, "target");
  if (target !== "next-turn" && target !== "next-step")
    return violate(
      "inbox-splice",
      "data.target",
      'must be "next-turn" or "next-step"',
    );
  const queue = state[target];
  const start = member(event.data, "start");
  const removed = member(event.data, "removedCount") ?? 0;
  if (!isSeq(start) || !isSeq(removed) || start + removed > queue.length)
    return violate(
      "inbox-splice",
      "data.start",
      `leaves the queue, which holds ${queue.length}`,
    );
  const inserted = idsOf(member(event.data, "inserted"));
  const next = { ...state, [target]: queue.toSpliced(start, removed) };
  const queued = [...next["next-turn"], ...next["next-step"]];
  const repeated = inserted.find(
    (id, at) => queued.includes(id) || inserted.indexOf(id) !== at,
  );
  if (repeated !== undefined)
    violate(
      "inbox-splice",
      "data.inserted",
      `queues message ${repeated} twice`,
    );
  return { ...next, [target]: queue.toSpliced(start, removed, ...inserted) };
}

/** Where a splice leaves the queue that it does not fit: cut to what is there. */
export function inboxAsNamed(state: InboxState, event: RuleEvent): InboxState {
  const target = member(event.data, "target");
  const start = member(event.data, "start");
  const removed = member(event.data, "removedCount") ?? 0;
  if (target !== "next-turn" && target !== "next-step") return state;
  const inserted = member(event.data, "inserted");
  const messages =
    inserted !== undefined && isJsonArray(inserted) ? inserted : [];
  const ids = messages.flatMap((message) => {
    const id = member(message, "id");
    return typeof id === "string" ? [id] : [];
  });
  return {
    ...state,
    [target]: state[target].toSpliced(
      isSeq(start) ? start : 0,
      isSeq(removed) ? removed : 0,
      ...ids,
    ),
  };
}

function idsOf(messages: JsonValue | undefined): readonly string[] {
  if (messages === undefined || !isJsonArray(messages)) return [];
  return messages.map((message) => {
    const id = member(message, "id");
    return typeof id === "string" && id !== ""
      ? id
      : violate("inbox-splice", "data.inserted", "must hold messages with ids");
  });
}
