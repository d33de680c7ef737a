/** Writes the events of one log, in order: gives each its seq and its time. */
import type { SessionEvent } from "../../src/events/event.ts";
import type { JsonValue } from "../../src/events/json.ts";
import type { SurfaceType } from "../../src/events/vocabulary.ts";

export interface LogPen {
  /** Seq of the next event. */
  readonly nextSeq: number;
  /** An event off the surface, `afterMs` after the one before. */
  write(type: string, data: JsonValue, afterMs?: number): SessionEvent;
  /** A message at the end of the surface. */
  writeMessage(type: SurfaceType, data: JsonValue, made?: Making): SessionEvent;
}

/** What a message was made from, and how long after the event before. */
interface Making {
  readonly sourceEventSeqs?: readonly number[];
  readonly afterMs?: number;
}

/** @param startMs epoch ms */
export function createLogPen(startMs: number): LogPen {
  let nextSeq = 0;
  let timeMs = startMs;
  const envelope = (type: string, data: JsonValue, afterMs: number) => {
    const seq = nextSeq;
    nextSeq += 1;
    timeMs += afterMs;
    return { type, seq, time: timeMs, data };
  };
  return {
    get nextSeq() {
      return nextSeq;
    },
    write: (type, data, afterMs = 0) => envelope(type, data, afterMs),
    writeMessage: (type, data, { sourceEventSeqs, afterMs = 1 } = {}) => ({
      ...envelope(type, data, afterMs),
      ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs }),
      surfaceOp: "append",
    }),
  };
}
