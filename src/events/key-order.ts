/** The order of an event's keys: kept where a writer's differs from ours, so that its JSON text comes back unchanged. */
import type { SessionEvent } from "./event.ts";

const CANONICAL = [
  "type",
  "seq",
  "time",
  "data",
  "ignorable",
  "sourceEventSeqs",
  "surfaceOp",
];

/**
 * Order of the keys of a complete event, comma-separated; null where it is the canonical one, or where the event is not
 * complete and gets its order from us.
 */
export function keyOrderOf(event: object): string | null {
  const keys = Object.entries(event).flatMap(([key, value]) =>
    value === undefined ? [] : [key],
  );
  if (!["type", "seq", "time", "data"].every((key) => keys.includes(key)))
    return null;
  const order = keys.join();
  return order === CANONICAL.filter((key) => keys.includes(key)).join()
    ? null
    : order;
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
