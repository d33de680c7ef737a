/** Replays a range: reads each session's log once and folds it for every new build, in chunks. */
import type { Db } from "../db/connect.ts";
import { RebuildEndedError } from "../errors.ts";
import { wantedTypes } from "../projector/feed.ts";
import { isOutside } from "../projector/failure.ts";
import type { Chunk } from "./chunk.ts";
import type { Range } from "./ranges.ts";
import type { Rebuild } from "./rebuild-row.ts";
import { readReplayRows } from "./replay-rows.ts";
import { readReplayPage, type ReplaySession } from "./replay-sessions.ts";
import { SessionsApartError, SessionStream } from "./session-stream.ts";
import { RangeLostError, writeChunk } from "./write-chunk.ts";

/** Sessions whose logs are read as one stream. */
const PAGE_SESSIONS = 200;

export interface RangeReplay {
  readonly db: Db;
  readonly rebuild: Rebuild;
  readonly range: Range;
  readonly holder: string;
  /** Aborted to stop after the chunk in hand. */
  readonly signal: AbortSignal;
}

/**
 * Brings the sessions of a range into the new builds, but for those that something is wrong with or that a projector has
 * in hand: they are left to the ordinary path, which knows how to go about them. Memory is bounded by two pages of the
 * log and a chunk. Returns false when it was stopped.
 * @throws RangeLostError, RebuildEndedError
 */
export async function replayRange(replay: RangeReplay): Promise<boolean> {
  const { db, rebuild, range, signal } = replay;
  const done = { sessions: 0, events: 0 };
  let fromId = range.fromId;
  for (let isAfter = false; ; isAfter = true) {
    const page = await readReplayPage(db, {
      builds: rebuild.builds,
      fromId,
      isAfter,
      untilId: range.untilId,
      limit: PAGE_SESSIONS,
    });
    if (page.lastId === null) return true;
    let left = page.sessions;
    done.sessions += page.count - left.length;
    done.events += page.events - eventsIn(left);
    while (left.length > 0 && !signal.aborted) {
      const written = await replaySessions(replay, left, done);
      done.sessions += written.count;
      done.events += eventsIn(left.slice(0, written.count));
      left = left
        .slice(written.count)
        .filter(({ sessionId }) => !written.apart.has(sessionId));
    }
    if (signal.aborted) return false;
    fromId = page.lastId;
  }
}

interface Progress {
  readonly sessions: number;
  readonly events: number;
}

/** Returns how many of the sessions, from the first, are stored, and which ones can't be. */
async function replaySessions(
  replay: RangeReplay,
  sessions: readonly ReplaySession[],
  before: Progress,
): Promise<{ readonly count: number; readonly apart: ReadonlySet<string> }> {
  const { db, rebuild, signal } = replay;
  const stream = new SessionStream(sessions, (chunk, count) =>
    write(replay, chunk, {
      sessions: before.sessions + count,
      events: before.events + eventsIn(sessions.slice(0, count)),
    }),
  );
  try {
    const pages = readReplayRows(db, {
      sessionIds: sessions.map(({ sessionId }) => sessionId),
      fromSeq: Math.min(
        ...sessions
          .slice(0, 1)
          .flatMap(({ starts }) => starts.map(({ nextSeq }) => nextSeq)),
      ),
      types: wantedTypes(rebuild.builds),
    });
    for await (const rows of pages) {
      for (const row of rows) {
        if (stream.isFull) await stream.flush();
        stream.take(row);
      }
      if (signal.aborted) break;
    }
    await (signal.aborted ? stream.flush() : stream.end());
    return { count: stream.written, apart: new Set() };
  } catch (error) {
    if (!(error instanceof SessionsApartError)) throw error;
    return { count: stream.written, apart: error.sessionIds };
  }
}

/** A row that the database refuses is not known from the outside: all sessions of the chunk are put apart. */
async function write(
  { db, rebuild, range, holder }: RangeReplay,
  chunk: Chunk,
  done: Progress,
): Promise<void> {
  try {
    await writeChunk(db, rebuild.builds, chunk, {
      rebuild: rebuild.number,
      range: range.range,
      holder,
      ...done,
    });
  } catch (error) {
    const isOurs =
      error instanceof SessionsApartError ||
      error instanceof RangeLostError ||
      error instanceof RebuildEndedError;
    if (isOurs || isOutside(error)) throw error;
    throw new SessionsApartError(
      chunk.checkpoints.map(({ session }) => session.sessionId),
      error,
    );
  }
}

function eventsIn(sessions: readonly ReplaySession[]): number {
  return sessions.reduce((sum, { factsHead }) => sum + factsHead, 0);
}
