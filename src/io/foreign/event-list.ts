/** The events of a log that is being written, each with the line it came from. */
import type { SessionEvent } from "../../events/event.ts";
import type { JsonValue } from "../../events/json.ts";
import type { PlacedEvent } from "./transcript.ts";

type Extras = Pick<SessionEvent, "surfaceOp" | "sourceEventSeqs">;

/** A line of the transcript, or what stands for it. */
export interface Place {
  /** From 1. */
  readonly number: number;
  /** Epoch ms. */
  readonly time: number;
}

export class EventList {
  readonly events: PlacedEvent[] = [];
  #place: Place = { number: 1, time: 0 };

  get nextSeq(): number {
    return this.events.length;
  }

  /** Says where the next events come from. */
  at(place: Place): void {
    this.#place = place;
  }

  append(type: string, data: JsonValue, extras: Extras = {}): void {
    this.#push(type, this.#place.time, data, extras);
  }

  /** An event that the transcript does not tell of: it has the time of the one before it. */
  appendUntold(type: string, data: JsonValue): void {
    this.#push(
      type,
      this.events.at(-1)?.event.time ?? this.#place.time,
      data,
      {},
    );
  }

  #push(type: string, time: number, data: JsonValue, extras: Extras): void {
    const event = { type, seq: this.nextSeq, time, data, ...extras };
    this.events.push({ line: this.#place.number, event });
  }
}
