/** Brings new builds to the heads by the ordinary path: the projectors that have their version, and this process. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";
import type { Logger } from "../logger.ts";
import { isOutside } from "../projector/failure.ts";
import { projectSession } from "../projector/project-session.ts";
import { markBehind, workBehind } from "./behind.ts";
import type { NewBuild } from "./rebuild-row.ts";

/** Few enough to be folded in the moment of the swap. */
export const FEW_SESSIONS = 16;
const PORTION = 200;
const PAUSE_MS = 50;

export interface Feeding {
  readonly db: Db;
  readonly builds: readonly NewBuild[];
  readonly concurrency: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Feeds until no more than a few sessions are behind. Sessions that a build fails at are left out. */
export async function feedToHeads(feeding: Feeding): Promise<void> {
  await markBehind(
    feeding.db,
    feeding.builds.map(({ build }) => build),
  );
  while (!feeding.signal.aborted)
    if ((await feedOnce(feeding)) <= FEW_SESSIONS) return;
}

/** Folds a portion of what is behind, and returns how much that was. */
export async function feedOnce(feeding: Feeding): Promise<number> {
  const { db, builds, concurrency, signal } = feeding;
  const numbers = builds.map(({ build }) => build);
  const waiting = await workBehind(db, numbers, PORTION);
  const left = [...waiting];
  const hand = async (): Promise<void> => {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (signal.aborted) return;
      await foldSession(feeding, id);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, hand));
  return waiting.length;
}

/** Trouble from the outside passes: the session stays on the work list. */
async function foldSession(
  { db, builds, logger }: Feeding,
  sessionId: string,
): Promise<void> {
  const projections = builds.map(({ projection }) => projection);
  try {
    await projectSession({ db, projections, logger }, SessionId(sessionId));
  } catch (error) {
    if (!isOutside(error)) throw error;
    await sleep(PAUSE_MS);
  }
}
