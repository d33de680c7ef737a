/** The replay of a rebuild: this process takes range after range, beside others that do the same. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../db/connect.ts";
import type { Logger } from "../logger.ts";
import { isOutside } from "../projector/failure.ts";
import {
  claimRange,
  countOpenRanges,
  finishRange,
  holdRanges,
  HOLD_SECONDS,
  releaseRanges,
  type Range,
} from "./ranges.ts";
import { readStep, type Rebuild } from "./rebuild-row.ts";
import { replayRange } from "./replay-range.ts";
import { RangeLostError } from "./write-chunk.ts";

/** While others have the last ranges. */
const LOOK_MS = 250;
const TROUBLE_MS = 1_000;

export interface Replay {
  readonly db: Db;
  readonly rebuild: Rebuild;
  /** This process. */
  readonly holder: string;
  /** Ranges at a time: while one waits for the database, another is folded. */
  readonly concurrency: number;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Returns when every range is replayed, by whomever, or when it is told to stop.
 * @throws RebuildEndedError when it is cancelled
 */
export async function replaySessions(replay: Replay): Promise<void> {
  const { db, rebuild, holder, concurrency } = replay;
  const timer = setInterval(
    () => void holdRanges(db, rebuild.number, holder).catch(() => undefined),
    (HOLD_SECONDS * 1_000) / 3,
  );
  try {
    await Promise.all(
      Array.from({ length: concurrency }, () => takeRanges(replay)),
    );
  } finally {
    clearInterval(timer);
    await releaseRanges(db, rebuild.number, holder).catch(() => undefined);
  }
}

async function takeRanges(replay: Replay): Promise<void> {
  const { db, rebuild, holder, signal } = replay;
  while (!signal.aborted) {
    const range = await claimRange(db, rebuild.number, holder);
    if (range !== null) await takeRange(replay, range);
    else if ((await countOpenRanges(db, rebuild.number)) === 0) return;
    else {
      await readStep(db, rebuild.number);
      await sleep(LOOK_MS);
    }
  }
}

/** Trouble from the outside passes: the range goes on from its checkpoints. */
async function takeRange(replay: Replay, range: Range): Promise<void> {
  const { db, rebuild, holder, logger, signal } = replay;
  for (;;) {
    try {
      if (await replayRange({ db, rebuild, range, holder, signal }))
        await finishRange(db, rebuild.number, range.range);
      return;
    } catch (error) {
      if (error instanceof RangeLostError) return;
      if (!isOutside(error)) throw error;
      logger.warn(
        { err: error, rebuild: rebuild.number, range: range.range },
        "a range could not be replayed; it is tried again",
      );
      if (signal.aborted) return;
      await sleep(TROUBLE_MS);
    }
  }
}
