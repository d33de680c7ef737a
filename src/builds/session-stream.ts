/** Folds rows of the log as they come, session after session, into chunks. */
import { parseHeader } from "../events/header.ts";
import { parseJson } from "../events/json.ts";
import { isStorageTag } from "../events/vocabulary.ts";
import { eventsOf } from "../log/stored-row.ts";
import type { Fold } from "../projector/projection.ts";
import { Chunk } from "./chunk.ts";
import type { NewBuild } from "./rebuild-row.ts";
import type { ReplayRow } from "./replay-rows.ts";
import type { ReplaySession } from "./replay-sessions.ts";

/** Sessions that the replay leaves to the ordinary path: they moved meanwhile, or something is wrong with one of them. */
export class SessionsApartError extends Error {
  readonly sessionIds: ReadonlySet<string>;
  constructor(sessionIds: Iterable<string>, cause?: unknown) {
    super("sessions could not be replayed", { cause });
    this.sessionIds = new Set(sessionIds);
  }
}

/** A build at the session in hand. */
interface Feed {
  readonly build: NewBuild;
  readonly fold: Fold;
  /** Events below this are in the tables from before. */
  readonly startSeq: number;
  /** Where its checkpoint stands. */
  savedSeq: number;
}

export class SessionStream {
  readonly #sessions: readonly ReplaySession[];
  readonly #write: (chunk: Chunk, sessions: number) => Promise<void>;
  #chunk = new Chunk();
  #at = 0;
  #feeds: readonly Feed[] | null = null;
  #reached = 0;
  #written = 0;

  /**
   * @param sessions those whose rows will come, in that order
   * @param write stores a chunk; also told how many of the sessions are then done
   */
  constructor(
    sessions: readonly ReplaySession[],
    write: (chunk: Chunk, sessions: number) => Promise<void>,
  ) {
    this.#sessions = sessions;
    this.#write = write;
  }

  /** Sessions, from the first, that are stored. */
  get written(): number {
    return this.#written;
  }

  get isFull(): boolean {
    return this.#chunk.isFull;
  }

  /** @throws SessionsApartError when a fold throws */
  take(row: ReplayRow): void {
    while (this.#session?.sessionId !== row.session_id) this.#endSession();
    const { factsHead, sessionId } = this.#session;
    if (row.seq >= factsHead) return;
    try {
      applyRow(row, (this.#feeds ??= this.#open(this.#session)));
    } catch (cause) {
      throw new SessionsApartError([sessionId], cause);
    }
    this.#reached = row.seq + row.event_count;
  }

  /** Stores what there is, the session in hand as far as it has come. */
  async flush(): Promise<void> {
    this.#save(this.#reached);
    const chunk = this.#chunk;
    this.#chunk = new Chunk();
    if (chunk.checkpoints.length === 0) return;
    await this.#write(chunk, this.#at);
    this.#written = this.#at;
  }

  /** No more rows will come. */
  async end(): Promise<void> {
    while (this.#at < this.#sessions.length) {
      if (this.isFull) await this.flush();
      this.#endSession();
    }
    await this.flush();
  }

  get #session(): ReplaySession | undefined {
    return this.#sessions[this.#at];
  }

  #open(session: ReplaySession): readonly Feed[] {
    const header = parseHeader(parseJson(session.header));
    return session.starts.map(({ build, nextSeq, state }) => ({
      build,
      fold: build.projection.fold(header, state, (change) =>
        this.#chunk.addChange(build, change),
      ),
      startSeq: nextSeq,
      savedSeq: nextSeq,
    }));
  }

  #endSession(): void {
    const session = this.#session;
    if (session === undefined)
      throw new RangeError("a row came of a session that is not replayed");
    this.#feeds ??= this.#open(session);
    this.#save(session.factsHead);
    this.#feeds = null;
    this.#reached = 0;
    this.#at += 1;
  }

  #save(nextSeq: number): void {
    const session = this.#session;
    if (session === undefined) return;
    for (const feed of this.#feeds ?? []) {
      if (feed.savedSeq >= nextSeq) continue;
      this.#chunk.addCheckpoint({
        session,
        build: feed.build.build,
        fromSeq: feed.savedSeq,
        nextSeq,
        state: feed.fold.state(),
      });
      feed.savedSeq = nextSeq;
    }
  }
}

function applyRow(row: ReplayRow, feeds: readonly Feed[]): void {
  const due = feeds.filter(({ startSeq }) => startSeq <= row.seq);
  const isRun = isStorageTag(row.type);
  const isWanted = (): boolean =>
    !isRun || due.some(({ fold }) => fold.wantsDeltas());
  if (!isWanted()) return;
  for (const event of eventsOf(row)) {
    const projected = { ...event, sessionId: row.session_id };
    for (const { fold } of due) fold.apply(projected);
    // Nobody wants the rest of a run when nobody wants its next delta: only events that are wanted change a state.
    if (isRun && !isWanted()) return;
  }
}
