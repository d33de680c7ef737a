/** One slice of a session in one transaction: read, fold every due build, write rows and checkpoints. */
import type { Tx } from "../db/connect.ts";
import { parseHeader } from "../events/header.ts";
import type { SessionId } from "../events/ids.ts";
import { parseJson } from "../events/json.ts";
import { isStorageTag, STORAGE_TAGS } from "../events/vocabulary.ts";
import { readPage } from "../log/read.ts";
import { eventsOf, type StoredRow } from "../log/stored-row.ts";
import { saveCheckpoints } from "./checkpoints.ts";
import {
  buildSchema,
  definitionOf,
  openSession,
  type OpenBuild,
} from "./open-session.ts";
import type { Fold, Projection } from "./projection.ts";
import { RowBuffer } from "./row-buffer.ts";
import { clearSession, writeTable } from "./table-writer.ts";

/** A fold or a write failed; the transaction is gone. */
export class SliceError extends Error {
  /** Builds that were in the slice, and the seq of its first row, or of the event that threw. */
  readonly builds: readonly number[];
  readonly seq: number;
  /** Rows that had been read when it failed. */
  readonly rowCount: number;
  readonly factsHead: number;
  constructor(facts: {
    builds: readonly number[];
    seq: number;
    rowCount: number;
    factsHead: number;
    cause: unknown;
  }) {
    super("a slice could not be folded", { cause: facts.cause });
    this.builds = facts.builds;
    this.seq = facts.seq;
    this.rowCount = facts.rowCount;
    this.factsHead = facts.factsHead;
  }
}

export interface SliceRequest {
  readonly sessionId: SessionId;
  readonly projections: readonly Projection[];
  /** Only this build; all that are due when null. */
  readonly onlyBuild: number | null;
  /** Rows of the log to fold at most. */
  readonly maxRows: number;
  /** When to stop after the page in hand: a reading of `performance.now()`. */
  readonly until: number;
}

/** `busy`: another projector has the session. `idle`: nothing is due. `more`: the slice ended before the log did. */
export interface SliceResult {
  readonly outcome: "busy" | "idle" | "done" | "more";
  /** What the log's facts ended at when the slice began. */
  readonly factsHead: number;
}

/** A build in this slice, its fold, and what it wants written. */
interface Feed {
  readonly build: OpenBuild;
  readonly projection: Projection;
  readonly fold: Fold;
  readonly buffer: RowBuffer;
  readonly nextSeq: number;
  readonly isReset: boolean;
}

/**
 * Folds one slice. Locks, in order: builds' advisory locks (shared), lock row, checkpoints, read rows.
 * @throws SliceError when a fold throws or the database refuses a row
 */
export async function foldSlice(
  tx: Tx,
  request: SliceRequest,
): Promise<SliceResult> {
  const { sessionId, projections, onlyBuild } = request;
  const builds = await openSession(tx, sessionId);
  const [first] = builds;
  if (first === undefined) return { outcome: "busy", factsHead: 0 };
  const factsHead = first.deleted ? 0 : first.facts_head;
  const feeds = builds.flatMap((build) => {
    const projection = definitionOf(projections, build);
    const isWanted = onlyBuild === null || onlyBuild === build.build;
    return projection !== undefined && isWanted && build.due
      ? feedOf(build, projection, factsHead)
      : [];
  });
  if (feeds.length === 0) return { outcome: "idle", factsHead };
  const reached = await foldRows(tx, request, feeds, factsHead);
  return { outcome: reached < factsHead ? "more" : "done", factsHead };
}

/** A build of another incarnation, or from before a redaction, starts again from nothing. */
function feedOf(
  build: OpenBuild,
  projection: Projection,
  factsHead: number,
): Feed[] {
  const isReset =
    build.checkpoint_incarnation !== build.incarnation ||
    build.checkpoint_redaction_generation !== build.redaction_generation;
  const nextSeq = isReset ? 0 : build.next_seq;
  if (nextSeq >= factsHead && !isReset) return [];
  const buffer = new RowBuffer();
  const header = parseHeader(parseJson(build.header));
  const fold = projection.fold(header, isReset ? "" : build.state, buffer.add);
  return [{ build, projection, fold, buffer, nextSeq, isReset }];
}

async function foldRows(
  tx: Tx,
  request: SliceRequest,
  feeds: readonly Feed[],
  factsHead: number,
): Promise<number> {
  let reached = Math.min(...feeds.map((feed) => feed.nextSeq));
  const start = reached;
  const types = wantedTypes(feeds);
  let rowCount = 0;
  let failedAt = start;
  try {
    while (reached < factsHead && rowCount < request.maxRows) {
      const page = await readPage(tx, {
        sessionId: request.sessionId,
        fromSeq: reached,
        toSeq: factsHead,
        types,
      });
      const rows = page.slice(0, request.maxRows - rowCount);
      for (const row of rows) {
        failedAt = row.seq;
        rowCount += 1;
        applyRow(row, feeds, request.sessionId);
      }
      const last = rows.at(-1);
      reached = last === undefined ? factsHead : last.seq + last.event_count;
      if (performance.now() >= request.until) break;
    }
    failedAt = rowCount === 1 ? failedAt : start;
    await writeFeeds(tx, request.sessionId, feeds, reached);
    return reached;
  } catch (cause) {
    const builds = feeds.map((feed) => feed.build.build);
    throw new SliceError({ builds, seq: failedAt, rowCount, factsHead, cause });
  }
}

function applyRow(
  row: StoredRow,
  feeds: readonly Feed[],
  sessionId: SessionId,
): void {
  const due = feeds.filter((feed) => feed.nextSeq <= row.seq);
  if (isStorageTag(row.type) && !due.some((feed) => feed.fold.wantsDeltas()))
    return;
  for (const event of eventsOf(row)) {
    const projected = { ...event, sessionId };
    for (const feed of due) feed.fold.apply(projected);
  }
}

async function writeFeeds(
  tx: Tx,
  sessionId: SessionId,
  feeds: readonly Feed[],
  reached: number,
): Promise<void> {
  await saveCheckpoints(
    tx,
    sessionId,
    feeds.map(({ build, fold, nextSeq }) => ({
      build,
      nextSeq: Math.max(nextSeq, reached),
      state: fold.state(),
    })),
  );
  for (const { build, projection, buffer, isReset } of feeds) {
    const schema = buildSchema(build.build);
    if (isReset)
      for (const table of projection.tables)
        await clearSession(tx, schema, table, sessionId);
    for (const [table, changes] of buffer.take())
      await writeTable(tx, schema, table, changes);
  }
}

/** Row types that some feed handles; null for all. Runs are read only where deltas may be wanted. */
export function wantedTypes(
  feeds: readonly { readonly projection: Projection }[],
): readonly string[] | null {
  const types = new Set<string>();
  for (const { projection } of feeds) {
    if (projection.handles === null) return null;
    for (const type of projection.handles) types.add(type);
    if (projection.mayWantDeltas)
      for (const tag of STORAGE_TAGS) types.add(tag);
  }
  return [...types];
}
