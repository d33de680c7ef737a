/** Finds the one event that a build fails at: all before it is folded and written, and the failure is noted at it. */
import type { SessionId } from "../events/ids.ts";
import { recordFailure } from "./checkpoints.ts";
import { errorCodeOf, isOutside } from "./failure.ts";
import type { Trouble } from "./feed.ts";
import { SliceError, type SliceResult } from "./fold-slice.ts";
import type { ProjectorContext } from "./project-session.ts";

/** Folds one build up to before `toSeq`, or for one slice of time. */
type FoldTo = (build: number, toSeq: number) => Promise<SliceResult>;

/**
 * Folds up to the trouble, each step in a transaction of its own: to just before an event that the fold threw at; where
 * rows could not be written, all of it without the other builds, then halves, until one event is left. Returns false
 * when another projector has taken the session.
 * @throws what has nothing to do with the fold
 */
export async function isolate(
  context: ProjectorContext,
  sessionId: SessionId,
  first: Trouble,
  foldTo: FoldTo,
): Promise<boolean> {
  let trouble = first;
  let isHere = first.isLast;
  while (trouble.fromSeq < trouble.toSeq) {
    const { fromSeq, toSeq, isLast, build } = trouble;
    const length = toSeq - fromSeq;
    if (isLast && length === 1) {
      await note(context, sessionId, trouble);
      return true;
    }
    const half = isHere ? Math.ceil(length / 2) : length;
    const goal = isLast ? toSeq - 1 : fromSeq + half;
    try {
      const result = await foldTo(build, goal);
      if (result.outcome === "busy") return false;
      if (result.outcome === "idle" && result.troubles.length === 0)
        return true;
      const [thrown] = result.troubles;
      trouble = thrown ?? { ...trouble, fromSeq: result.reached };
    } catch (error) {
      if (!(error instanceof SliceError) || isOutside(error.cause)) throw error;
      isHere = true;
      const end = Math.max(error.reached, fromSeq + 1);
      trouble = {
        ...trouble,
        toSeq: end,
        isLast: end - fromSeq === 1,
        cause: error.cause,
      };
    }
  }
  return true;
}

async function note(
  { db, logger }: ProjectorContext,
  sessionId: SessionId,
  { build, projection, version, fromSeq: seq, cause }: Trouble,
): Promise<void> {
  const errorCode = errorCodeOf(cause);
  await recordFailure(db, sessionId, { build, seq, errorCode });
  logger.error(
    {
      session_id: sessionId,
      projection,
      version,
      build,
      seq,
      error_code: errorCode,
    },
    "a build could not fold an event",
  );
}
