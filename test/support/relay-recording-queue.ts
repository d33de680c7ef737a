/** A queue that only writes down whom it is rung for, and can be out of order. */
import type { Queue } from "../../src/queue/queue.ts";

export interface RecordingQueue extends Queue {
  /** Sessions of each call that was not refused. */
  readonly rung: string[];
  /** Calls that were refused. */
  readonly refused: () => number;
  setBroken(isBroken: boolean): void;
}

export function recordingQueue(): RecordingQueue {
  const rung: string[] = [];
  let isBroken = false;
  let refused = 0;
  return {
    rung,
    refused: () => refused,
    setBroken(value) {
      isBroken = value;
    },
    ring(sessionIds) {
      if (isBroken) {
        refused += 1;
        return Promise.reject(new Error("the queue is away"));
      }
      rung.push(...sessionIds);
      return Promise.resolve();
    },
    run: () => undefined,
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
