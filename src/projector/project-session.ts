/** Brings every build of one session up to date, slice by slice, and keeps one build's trouble from the others. */
import type { Db } from "../db/connect.ts";
import { isTransient, sqlState } from "../db/pg-errors.ts";
import { DatabaseUnavailableError, TurnlogError } from "../errors.ts";
import type { SessionId } from "../events/ids.ts";
import type { Logger } from "../logger.ts";
import {
  acknowledge,
  CheckpointMovedError,
  recordFailure,
} from "./checkpoints.ts";
import { foldSlice, SliceError, type SliceResult } from "./fold-slice.ts";
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
 * @throws DatabaseUnavailableError, or a transient database error: nothing is lost, the sweep comes back
 */
export async function projectSession(
  context: ProjectorContext,
  sessionId: SessionId,
): Promise<boolean> {
  const startedAt = performance.now();
  const result = await slice(context, sessionId, {
    onlyBuild: null,
    maxRows: SLICE_ROWS,
  })
    .catch((error: unknown) => foldApart(context, sessionId, error))
    .catch(unlessMoved);
  if (result === "moved") return true;
  if (result.outcome === "busy") return false;
  const again = await acknowledge(context.db, sessionId, result.factsHead);
  const durationMs = Math.round(performance.now() - startedAt);
  context.logger.debug(
    { session_id: sessionId, outcome: result.outcome, duration_ms: durationMs },
    "folded",
  );
  return again || result.outcome === "more";
}

type Bounds = { readonly onlyBuild: number | null; readonly maxRows: number };

function slice(
  context: ProjectorContext,
  sessionId: SessionId,
  bounds: Bounds,
): Promise<SliceResult> {
  const request = {
    sessionId,
    projections: context.projections,
    until: performance.now() + SLICE_MS,
    ...bounds,
  };
  return context.db.transaction((tx) => foldSlice(tx, request));
}

/** One build failed and took the others' transaction with it: go on build by build. */
async function foldApart(
  context: ProjectorContext,
  sessionId: SessionId,
  error: unknown,
): Promise<SliceResult> {
  if (!(error instanceof SliceError) || isOutside(error.cause))
    throw causeOf(error);
  let last: SliceResult = { outcome: "idle", factsHead: 0 };
  for (const build of error.builds) {
    const result = await foldBuild(context, sessionId, build, error.rowCount);
    last = {
      outcome: result.outcome === "more" ? "more" : last.outcome,
      factsHead: Math.max(last.factsHead, result.factsHead),
    };
  }
  return last;
}

/** A rebuild folded the session at the same time: it is looked at again at once. */
function unlessMoved(error: unknown): "moved" {
  if (error instanceof CheckpointMovedError) return "moved";
  throw error;
}

/** Halves the slice until one row is left: all before it is kept, and the failure is noted at it. */
async function foldBuild(
  context: ProjectorContext,
  sessionId: SessionId,
  build: number,
  rowCount: number,
): Promise<SliceResult> {
  for (let maxRows = Math.max(rowCount, 1); ;) {
    try {
      const result = await slice(context, sessionId, {
        onlyBuild: build,
        maxRows,
      });
      if (result.outcome !== "more" || maxRows >= rowCount) return result;
    } catch (error) {
      if (!(error instanceof SliceError) || isOutside(error.cause))
        throw causeOf(error);
      if (maxRows > 1) maxRows = Math.ceil(maxRows / 2);
      else {
        const failure = {
          build,
          seq: error.seq,
          errorCode: codeOf(error.cause),
        };
        await recordFailure(context.db, sessionId, failure);
        context.logger.error(
          { session_id: sessionId, ...failure },
          "a build could not fold an event",
        );
        return { outcome: "idle", factsHead: error.factsHead };
      }
    }
  }
}

/** Trouble that says nothing about the fold: the next attempt may simply work. */
export function isOutside(cause: unknown): boolean {
  return (
    cause instanceof DatabaseUnavailableError ||
    cause instanceof CheckpointMovedError ||
    isTransient(cause) ||
    sqlState(cause)?.startsWith("57") === true
  );
}

function causeOf(error: unknown): unknown {
  return error instanceof SliceError ? error.cause : error;
}

/** Name of a failure that carries no content of the session. */
function codeOf(cause: unknown): string {
  if (cause instanceof TurnlogError) return cause.code;
  return sqlState(cause) ?? (cause instanceof Error ? cause.name : "UNKNOWN");
}
