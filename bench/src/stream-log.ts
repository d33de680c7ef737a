/** Puts a whole log into a contender as it comes in: one batch after the other. */
import type { SessionEvent } from "../../src/events/event.ts";
import { batchesOf } from "../generator/batches.ts";
import type { Contender } from "./contenders/contender.ts";

/** Returns events a second. */
export async function streamLog(
  contender: Contender,
  sessionId: string,
  log: readonly SessionEvent[],
  eventsPerAppend: number,
): Promise<number> {
  const beganAt = performance.now();
  let seq = 0;
  for (const batch of batchesOf(log, eventsPerAppend)) {
    await contender.append(sessionId, batch, seq);
    seq += batch.length;
  }
  return log.length / ((performance.now() - beganAt) / 1_000);
}
