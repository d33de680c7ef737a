/** A rebuild from its first range to the swap, step by step; each step may be begun again after a crash. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "../db/connect.ts";
import { RebuildEndedError, RebuildStoppedError } from "../errors.ts";
import { SessionId } from "../events/ids.ts";
import type { Logger } from "../logger.ts";
import { foldSlice, SliceError } from "../projector/fold-slice.ts";
import { workBehind } from "./behind.ts";
import { createIndexes } from "./create-indexes.ts";
import { dropOlderKept, type EndedBuild } from "./end-builds.ts";
import { refuseFailures } from "./failures.ts";
import { FEW_SESSIONS, feedToHeads } from "./feed.ts";
import { asFinisher } from "./finisher.ts";
import { readMoment, waitForSnapshots } from "./old-snapshots.ts";
import { viewsOf } from "./point-views.ts";
import {
  advance,
  noteTrouble,
  readStep,
  type Rebuild,
  type RebuildStep,
} from "./rebuild-row.ts";
import { replaySessions } from "./replay.ts";
import { swapBuilds } from "./swap.ts";
import { verifyBuilds, type Verification } from "./verify.ts";

const LOOK_MS = 250;

export interface RebuildRun {
  readonly db: Db;
  readonly rebuild: Rebuild;
  /** Ranges replayed, and sessions fed, at a time. */
  readonly concurrency: number;
  /** How long the swap waits for old transactions, and for its locks, in ms each. */
  readonly waitMs: number;
  readonly logger: Logger;
  /** Aborted to stop: what is done is kept. */
  readonly signal: AbortSignal;
}

export interface RebuildResult {
  readonly rebuild: number;
  /** What this process found out; empty where another one verified. */
  readonly verified: readonly Verification[];
  /** Older kept builds that had to go. */
  readonly dropped: readonly EndedBuild[];
}

/**
 * Works on a rebuild until the views point at its builds. Several processes may do so at once.
 * @throws RebuildStoppedError when the signal is aborted, RebuildEndedError when it is cancelled,
 * BuildVerifyFailedError, BuildLockedError: the live builds are untouched, and the same call goes on from there
 */
export async function runRebuild(run: RebuildRun): Promise<RebuildResult> {
  const { db, rebuild, signal } = run;
  const holder = randomUUID();
  const found: { verified: readonly Verification[] } = { verified: [] };
  for (;;) {
    if (signal.aborted) throw new RebuildStoppedError(rebuild.number);
    const step = await readStep(db, rebuild.number);
    if (step === "done") break;
    if (step === "replaying") {
      await replaySessions({ ...run, holder });
      if (!signal.aborted)
        await advance(db, rebuild.number, "replaying", "indexing");
      continue;
    }
    const didIt = await asFinisher(db, rebuild.number, holder, () =>
      finishWithTrouble(run, step, found),
    ).catch((error: unknown) => unlessEnded(db, rebuild.number, error));
    if (!didIt) await sleep(LOOK_MS);
  }
  const dropped = await dropOlderKept(
    db,
    rebuild.builds.map(({ projection }) => projection.name),
  );
  return { rebuild: rebuild.number, verified: found.verified, dropped };
}

/**
 * Whatever goes wrong when another process has ended it is a matter of that: its tables may be gone.
 * @throws RebuildEndedError when it was cancelled
 */
async function unlessEnded(
  db: Db,
  rebuild: number,
  error: unknown,
): Promise<false> {
  if ((await readStep(db, rebuild)) === "done") return false;
  throw error;
}

/** What stops it is written down, so that whoever looks at the builds sees it. */
async function finishWithTrouble(
  run: RebuildRun,
  step: RebuildStep,
  found: { verified: readonly Verification[] },
): Promise<void> {
  const { db, rebuild } = run;
  try {
    await finish(run, step, found);
  } catch (error) {
    if (error instanceof Error && !(error instanceof RebuildEndedError))
      await noteTrouble(db, rebuild.number, error.message).catch(
        () => undefined,
      );
    throw error;
  }
}

/** Goes on from a step to the swap. */
async function finish(
  run: RebuildRun,
  from: RebuildStep,
  found: { verified: readonly Verification[] },
): Promise<void> {
  const { db, rebuild, signal } = run;
  const number = rebuild.number;
  await noteTrouble(db, number, null);
  if (from === "indexing") {
    await waitForOld(run);
    if (signal.aborted) return;
    await createIndexes(db, rebuild.builds);
    await db.rows(
      {
        text: "update turnlog.builds set status = 'feeding' where rebuild = $1 and status = 'building'",
      },
      [number],
    );
    await advance(db, number, "indexing", "feeding");
  }
  if (from === "indexing" || from === "feeding") {
    await feedToHeads({ ...run, builds: rebuild.builds });
    if (signal.aborted) return;
    await advance(db, number, "feeding", "verifying");
  }
  if (from !== "swapping") {
    found.verified = await verifyBuilds(db, rebuild);
    await advance(db, number, "verifying", "swapping");
  }
  await feedToHeads({ ...run, builds: rebuild.builds });
  await waitForOld(run);
  await swap(run);
}

async function waitForOld({
  db,
  rebuild,
  signal,
  waitMs,
}: RebuildRun): Promise<void> {
  await waitForSnapshots(db, await readMoment(db), {
    timeoutMs: waitMs,
    signal,
    onWait: (text) => noteWait(db, rebuild.number, text),
  });
  await noteTrouble(db, rebuild.number, null);
}

/** @throws RebuildEndedError when it was cancelled meanwhile */
async function noteWait(db: Db, rebuild: number, text: string): Promise<void> {
  await readStep(db, rebuild);
  await noteTrouble(db, rebuild, text);
}

async function swap(run: RebuildRun): Promise<void> {
  const { db, rebuild, signal, waitMs } = run;
  while (!signal.aborted) {
    const isSwapped = await swapBuilds(db, {
      builds: rebuild.builds.map(({ build, projection }) => ({
        projection: projection.name,
        build,
        views: viewsOf(projection, build),
      })),
      timeoutMs: waitMs,
      signal,
      onWait: (text) => noteWait(db, rebuild.number, text),
      prepare: (tx) => catchUp(tx, rebuild),
      finish: (tx) => markDone(tx, rebuild.number),
    });
    if (isSwapped) return;
    await feedToHeads({ ...run, builds: rebuild.builds });
  }
}

/** Folds the last few sessions, so that no reader sees a session as it was before. False when there are too many. */
async function catchUp(tx: Tx, rebuild: Rebuild): Promise<boolean> {
  const numbers = rebuild.builds.map(({ build }) => build);
  await refuseFailures(tx, rebuild.builds);
  const behind = await workBehind(tx, numbers, FEW_SESSIONS + 1);
  if (behind.length > FEW_SESSIONS) return false;
  const projections = rebuild.builds.map(({ projection }) => projection);
  for (const sessionId of behind) {
    try {
      const { outcome } = await foldSlice(tx, {
        sessionId: SessionId(sessionId),
        projections,
        onlyBuild: null,
        toSeq: Number.POSITIVE_INFINITY,
        maxRows: 10_000,
        until: Number.POSITIVE_INFINITY,
      });
      if (outcome === "busy" || outcome === "more") return false;
    } catch (error) {
      // The ordinary path finds the event and notes it.
      if (error instanceof SliceError) return false;
      throw error;
    }
  }
  return true;
}

async function markDone(tx: Tx, rebuild: number): Promise<void> {
  const done = await tx.rows(
    {
      text: `
        update turnlog.rebuilds
        set step = 'done', ended_at = clock_timestamp(), trouble = null
        where number = $1 and step = 'swapping'
        returning number`,
    },
    [rebuild],
  );
  if (done.length === 0) throw new RebuildEndedError(rebuild, "over");
}
