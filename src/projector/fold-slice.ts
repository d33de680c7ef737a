/** One slice of a session in one transaction: read, fold every due build, write rows and checkpoints. */
import type { Tx } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import { readPage } from "../log/read.ts";
import { saveCheckpoints } from "./checkpoints.ts";
import {
  feedRow,
  isResetBuild,
  openFeed,
  troubleOf,
  wantedTypes,
  type Feed,
  type Trouble,
} from "./feed.ts";
import {
  buildSchema,
  definitionOf,
  openSession,
  type OpenBuild,
} from "./open-session.ts";
import type { Projection } from "./projection.ts";
import { clearSession, writeTable } from "./table-writer.ts";

/** What was folded could not be written; the transaction is gone, and the builds of the slice are where they were. */
export class SliceError extends Error {
  /** Where each build of the slice may have failed. */
  readonly troubles: readonly Trouble[];
  readonly reached: number;
  readonly factsHead: number;
  constructor(facts: {
    troubles: readonly Trouble[];
    reached: number;
    factsHead: number;
    cause: unknown;
  }) {
    super("a slice could not be written", { cause: facts.cause });
    this.troubles = facts.troubles;
    this.reached = facts.reached;
    this.factsHead = facts.factsHead;
  }
}

export interface SliceRequest {
  readonly sessionId: SessionId;
  readonly projections: readonly Projection[];
  /** Only this build; all that are due when null. */
  readonly onlyBuild: number | null;
  /** Stop before this event. */
  readonly toSeq: number;
  /** Rows of the log to fold at most. */
  readonly maxRows: number;
  /** When to stop after the page in hand: a reading of `performance.now()`. */
  readonly until: number;
}

/** `busy`: another projector has the session. `idle`: nothing is due. `more`: the slice ended before the log did. */
export interface SliceResult {
  readonly outcome: "busy" | "idle" | "done" | "more";
  /** Every event below this was folded by the builds of the slice. */
  readonly reached: number;
  /** What the log's facts ended at when the slice began, and when that was, on the database's clock. */
  readonly factsHead: number;
  readonly startedAt: string;
  /** Builds that failed at an event: they are where they were, and the others went on without them. */
  readonly troubles: readonly Trouble[];
}

/**
 * Folds one slice. Locks, in order: builds' advisory locks (shared), lock row, checkpoints, read rows.
 * @throws SliceError when the rows can't be written
 */
export async function foldSlice(
  tx: Tx,
  request: SliceRequest,
): Promise<SliceResult> {
  const { sessionId, projections, onlyBuild } = request;
  const builds = await openSession(tx, sessionId);
  const [first] = builds;
  if (first === undefined) return BUSY;
  const slice = new Slice(first.deleted ? 0 : first.facts_head, request);
  for (const build of builds) {
    const projection = definitionOf(projections, build);
    const isWanted = onlyBuild === null || onlyBuild === build.build;
    if (projection !== undefined && isWanted && build.due)
      slice.open(build, projection);
  }
  const { factsHead, troubles } = slice;
  const startedAt = first.started_at;
  if (slice.feeds.length === 0)
    return { outcome: "idle", reached: 0, factsHead, startedAt, troubles };
  const reached = await slice.fold(tx);
  await slice.write(tx, reached);
  const outcome = reached < factsHead ? "more" : "done";
  return { outcome, reached, factsHead, startedAt, troubles };
}

const BUSY: SliceResult = {
  outcome: "busy",
  reached: 0,
  factsHead: 0,
  startedAt: "",
  troubles: [],
};

class Slice {
  readonly factsHead: number;
  /** Builds that are still whole. */
  feeds: Feed[] = [];
  readonly troubles: Trouble[] = [];
  readonly #request: SliceRequest;

  constructor(factsHead: number, request: SliceRequest) {
    this.factsHead = factsHead;
    this.#request = request;
  }

  /** Takes a build in. A state or header that its fold can't begin with is trouble at its next event. */
  open(build: OpenBuild, projection: Projection): void {
    try {
      const feed = openFeed(build, projection, this.factsHead);
      if (feed !== null) this.feeds.push(feed);
    } catch (cause) {
      const fromSeq = isResetBuild(build) ? 0 : build.next_seq;
      this.troubles.push(
        troubleOf(build, { fromSeq, toSeq: fromSeq + 1, isLast: true, cause }),
      );
    }
  }

  /** Returns how far it came. */
  async fold(tx: Tx): Promise<number> {
    const { sessionId, maxRows, until, toSeq } = this.#request;
    const end = Math.min(this.factsHead, toSeq);
    const types = wantedTypes(this.feeds);
    let reached = Math.min(...this.feeds.map((feed) => feed.rowSeq));
    let left = maxRows;
    while (reached < end && left > 0 && this.feeds.length > 0) {
      const page = await readPage(tx, {
        sessionId,
        fromSeq: reached,
        toSeq: end,
        types,
      });
      const rows = page.slice(0, left);
      for (const row of rows) {
        const troubles = feedRow(this.feeds, row, end, sessionId);
        if (troubles.size === 0) continue;
        this.troubles.push(...troubles.values());
        this.feeds = this.feeds.filter((feed) => !troubles.has(feed));
      }
      left -= rows.length;
      const last = rows.at(-1);
      reached =
        last === undefined ? end : Math.min(end, last.seq + last.event_count);
      if (performance.now() >= until) break;
    }
    return reached;
  }

  /** @throws SliceError */
  async write(tx: Tx, reached: number): Promise<void> {
    try {
      if (this.feeds.length > 0) await this.#save(tx, reached);
      for (const feed of this.feeds)
        await writeRows(tx, feed, this.#request.sessionId);
    } catch (cause) {
      const possible = this.feeds.map((feed) =>
        troubleOf(feed.build, {
          fromSeq: feed.nextSeq,
          toSeq: Math.max(reached, feed.nextSeq + 1),
          isLast: false,
          cause,
        }),
      );
      throw new SliceError({
        troubles: [...this.troubles, ...possible],
        reached,
        factsHead: this.factsHead,
        cause,
      });
    }
  }

  #save(tx: Tx, reached: number): Promise<void> {
    return saveCheckpoints(
      tx,
      this.#request.sessionId,
      this.feeds.map(({ build, fold, nextSeq }) => ({
        build,
        nextSeq: Math.max(nextSeq, reached),
        state: fold.state(),
      })),
    );
  }
}

async function writeRows(
  tx: Tx,
  { build, projection, buffer, isReset }: Feed,
  sessionId: SessionId,
): Promise<void> {
  const schema = buildSchema(build.build);
  if (isReset)
    for (const table of projection.tables)
      await clearSession(tx, schema, table, sessionId);
  for (const [table, changes] of buffer.take())
    await writeTable(tx, schema, table, changes);
}
