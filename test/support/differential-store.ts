/** Events of any kind as the store's callers may give them, wrong ones too. */
import type { NewEvent } from "../../src/events/event.ts";
import type { AnyEvent } from "./illegal-changes.ts";

/** Names the type only: the store validates what it is given. */
export function newEvent(event: AnyEvent): NewEvent {
  if (!isNewEvent(event)) throw new Error("is no event");
  return event;
}

function isNewEvent(_event: object): _event is NewEvent {
  return true;
}
