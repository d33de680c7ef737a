/** An event that a writer has stored, as a reader of the log gets it. */
import type { SessionEvent } from "../events/event.ts";
import { inKeyOrder } from "../events/key-order.ts";
import type { PlacedEvent } from "../log/check-batch.ts";

/** @param now epoch ms that the append stamped on events without a time */
export function storedEvent(
  { type, seq, time, data, ...marks }: PlacedEvent,
  now: number,
): SessionEvent {
  const { ignorable, sourceEventSeqs, surfaceOp, keyOrder } = marks;
  const event: SessionEvent = {
    type,
    seq,
    time: time ?? now,
    data,
    ...(ignorable ? { ignorable } : {}),
    ...(sourceEventSeqs === null ? {} : { sourceEventSeqs }),
    ...(surfaceOp === null ? {} : { surfaceOp }),
  };
  return inKeyOrder(event, keyOrder);
}
