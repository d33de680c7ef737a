/** Brings every build of one session up to date, slice by slice, and keeps one build's trouble from the others. */
import type { Db } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import type { Logger } from "../logger.ts";
import { acknowledge, CheckpointMovedError, renewWork } from "./checkpoints.ts";
import { isOutside } from "./failure.ts";
import {
  foldSlice,
  SliceError,
  type SliceRequest,
  type SliceResult,
} from "./fold-slice.ts";
import { isolate } from "./isolate.ts";
import type { Projection } from "./projection.ts";

export interface ProjectorContext {
  readonly db: Db;
  readonly projections: readonly Projection[];
  readonly logger: Logger;
}

/** A session is left after this long, so that a huge one does not keep the others waiting. */
const SLICE_MS = 1_000;
const SLICE_ROWS = 20_000;

/**
 * Folds the session as far as its log goes, or for one slice. Returns true when it should be rung for again.
 * Each slice is a transaction of its own; a crash at any point leaves rows and checkpoints together.
 * @throws DatabaseUnavailableError, or a database error that is not the fold's: nothing is lost, the sweep comes back
 */
export async function projectSession(
  context: ProjectorContext,
  sessionId: SessionId,
): Promise<boolean> {
  try {
    return await foldSession(context, sessionId);
  } catch (error) {
    // A rebuild folded the session at the same time: it is looked at again at once.
    if (error instanceof CheckpointMovedError) return true;
    throw error;
  }
}

async function foldSession(
  context: ProjectorContext,
  sessionId: SessionId,
): Promise<boolean> {
  const { db, logger } = context;
  const clock = performance.now();
  const result = await foldAll(context, sessionId);
  if (result.outcome === "busy") return false;
  for (const trouble of result.troubles) {
    const foldTo = (onlyBuild: number, toSeq: number) =>
      slice(context, { sessionId, onlyBuild, toSeq });
    const isOurs = await isolate(context, sessionId, trouble, foldTo).catch(
      (error: unknown) => fail(error),
    );
    if (!isOurs) return false;
  }
  const { outcome, factsHead, startedAt } = result;
  const again = await acknowledge(db, sessionId, factsHead);
  if (again && outcome === "done")
    await renewWork(db, sessionId, factsHead, startedAt);
  const durationMs = Math.round(performance.now() - clock);
  logger.debug(
    { session_id: sessionId, outcome, duration_ms: durationMs },
    "folded",
  );
  return again || outcome === "more";
}

/** One slice of every build that is due. Where its rows can't be written, each of its builds may be the one in trouble. */
async function foldAll(
  context: ProjectorContext,
  sessionId: SessionId,
): Promise<SliceResult> {
  try {
    return await slice(context, {
      sessionId,
      onlyBuild: null,
      toSeq: Number.POSITIVE_INFINITY,
    });
  } catch (error) {
    if (!(error instanceof SliceError) || isOutside(error.cause)) fail(error);
    const { troubles, reached, factsHead } = error;
    const outcome = reached < factsHead ? "more" : "idle";
    return { outcome, reached, factsHead, startedAt: "", troubles };
  }
}

function slice(
  { db, projections }: ProjectorContext,
  what: Pick<SliceRequest, "sessionId" | "onlyBuild" | "toSeq">,
): Promise<SliceResult> {
  const until = performance.now() + SLICE_MS;
  const request = { ...what, projections, until, maxRows: SLICE_ROWS };
  return db.transaction((tx) => foldSlice(tx, request));
}

function fail(error: unknown): never {
  throw error instanceof SliceError ? error.cause : error;
}
