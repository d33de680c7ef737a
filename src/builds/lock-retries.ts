/** Short lock waits, tried again: nobody queues behind us for long. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "../db/connect.ts";
import { sqlState } from "../db/pg-errors.ts";
import { BuildLockedError } from "../errors.ts";

const TRIES = 40;
const LONGEST_PAUSE_MS = 500;

/** A lock that was not had in time, or a circle of waiters that Postgres broke: nothing was done. */
export function isLockTrouble(error: unknown): boolean {
  return ["55P03", "40P01"].includes(sqlState(error) ?? "");
}

/**
 * Runs `work` in a transaction whose locks are waited for half a second each, again and again for about half a minute.
 * @throws BuildLockedError after that
 */
export async function withLockRetries<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction(async (tx) => {
        await tx.rows({ text: "set local lock_timeout = '500ms'" });
        return work(tx);
      });
    } catch (error) {
      if (!isLockTrouble(error)) throw error;
      if (tries >= TRIES)
        throw new BuildLockedError(
          "Somebody has read or written the tables of the build for too long. Nothing has changed; try again when it has ended.",
        );
      await sleep(Math.min(tries * 20, LONGEST_PAUSE_MS));
    }
  }
}
