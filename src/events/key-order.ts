/** The order of an event's keys: kept where a writer's differs from ours, so that its JSON text comes back unchanged. */
import type { SessionEvent } from "./event.ts";

const CANONICAL: Readonly<Record<string, number>> = {
  type: 0,
  seq: 1,
  time: 2,
  data: 3,
  ignorable: 4,
  sourceEventSeqs: 5,
  surfaceOp: 6,
};
/** Keys that a complete event has. */
const REQUIRED = 4;

/**
 * Order of the keys of a complete event, comma-separated; null where it is the canonical one, or where the event is not
 * complete and gets its order from us.
 */
export function keyOrderOf(event: object): string | null {
  const keys = Object.keys(event);
  let last = -1;
  let required = 0;
  let isCanonical = true;
  for (const key of keys) {
    if (Reflect.get(event, key) === undefined) continue;
    const rank = CANONICAL[key] ?? 0;
    if (rank < last) isCanonical = false;
    if (rank < REQUIRED) required += 1;
    last = rank;
  }
  if (isCanonical || required < REQUIRED) return null;
  return keys.filter((key) => Reflect.get(event, key) !== undefined).join();
}

/** The same event with its keys in a stored order. */
export function inKeyOrder(
  event: SessionEvent,
  order: string | null,
): SessionEvent {
  if (order === null) return event;
  const ranks = new Map(order.split(",").map((key, rank) => [key, rank]));
  const entries = Object.entries(event).toSorted(
    ([a], [b]) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0),
  );
  return Object.assign(
    Object.create(Object.prototype),
    Object.fromEntries(entries),
  );
}
