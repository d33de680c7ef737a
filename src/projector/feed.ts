/** A build on its way through one slice of a session: its fold, and what it wants written. */
import { parseHeader } from "../events/header.ts";
import { parseJson } from "../events/json.ts";
import { isStorageTag, STORAGE_TAGS } from "../events/vocabulary.ts";
import { eventsOf, type StoredRow } from "../log/stored-row.ts";
import type { OpenBuild } from "./open-session.ts";
import type { Fold, ProjectedEvent, Projection } from "./projection.ts";
import { RowBuffer } from "./row-buffer.ts";

export interface Feed {
  readonly build: OpenBuild;
  readonly projection: Projection;
  readonly fold: Fold;
  readonly buffer: RowBuffer;
  /** First event that it has not folded, and the row of the log that holds it. */
  readonly nextSeq: number;
  readonly rowSeq: number;
  readonly skipped: ReadonlySet<number>;
  /** It begins again from nothing: its rows are cleared. */
  readonly isReset: boolean;
}

/** Something in `fromSeq` to before `toSeq` fails; all before is folded and written. */
export interface Trouble {
  readonly build: number;
  readonly projection: string;
  readonly version: number;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** It is the last event of the range, and not an earlier one. */
  readonly isLast: boolean;
  readonly cause: unknown;
}

/** A build of another incarnation, or from before a redaction, starts again from nothing. */
export function isResetBuild(build: OpenBuild): boolean {
  return (
    build.checkpoint_incarnation !== build.incarnation ||
    build.checkpoint_redaction_generation !== build.redaction_generation
  );
}

/** The feed of a build with something to fold before `factsHead`; null where there is nothing. Throws what `init` throws. */
export function openFeed(
  build: OpenBuild,
  projection: Projection,
  factsHead: number,
): Feed | null {
  const isReset = isResetBuild(build);
  const nextSeq = isReset ? 0 : build.next_seq;
  if (nextSeq >= factsHead && !isReset) return null;
  const buffer = new RowBuffer();
  const header = parseHeader(parseJson(build.header));
  const state = isReset ? "" : build.state;
  return {
    build,
    projection,
    fold: projection.fold(header, state, buffer.add),
    buffer,
    nextSeq,
    rowSeq: isReset ? 0 : build.row_seq,
    skipped: new Set(build.skipped),
    isReset,
  };
}

/**
 * Folds a row of the log, up to `toSeq`, into each feed that wants it.
 * @returns feeds that could not; their state and rows must not be used
 */
export function feedRow(
  feeds: readonly Feed[],
  row: StoredRow,
  toSeq: number,
  sessionId: string,
): ReadonlyMap<Feed, Trouble> {
  const troubles = new Map<Feed, Trouble>();
  let events: readonly ProjectedEvent[] | undefined;
  for (const feed of feeds) {
    if (feed.nextSeq >= row.seq + row.event_count) continue;
    let seq = Math.max(row.seq, feed.nextSeq);
    try {
      if (!wantsRow(feed, row.type)) continue;
      if (row.event_count === 1 && feed.skipped.has(row.seq)) continue;
      events ??= eventsOf(row).map((event) => ({ ...event, sessionId }));
      for (const event of events) {
        if (event.seq < feed.nextSeq || event.seq >= toSeq) continue;
        if (feed.skipped.has(event.seq)) continue;
        seq = event.seq;
        feed.fold.apply(event);
      }
    } catch (cause) {
      troubles.set(feed, troubleAt(feed, seq, cause));
    }
  }
  return troubles;
}

/** The feed failed at just this event. */
function troubleAt(feed: Feed, seq: number, cause: unknown): Trouble {
  const { build, nextSeq: fromSeq } = feed;
  return troubleOf(build, { fromSeq, toSeq: seq + 1, isLast: true, cause });
}

export function troubleOf(
  { build, projection, version }: OpenBuild,
  what: Pick<Trouble, "fromSeq" | "toSeq" | "isLast" | "cause">,
): Trouble {
  return { build, projection, version, ...what };
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

function wantsRow({ fold, projection }: Feed, type: string): boolean {
  if (isStorageTag(type)) return fold.wantsDeltas();
  return projection.handles?.has(type) ?? true;
}
