/** Rebuilds the rows of one session in live builds, in one transaction: readers see the old rows, then the new ones. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "../db/connect.ts";
import {
  BuildLockedError,
  BuildNotFoundError,
  SessionNotFoundError,
} from "../errors.ts";
import { parseHeader } from "../events/header.ts";
import type { SessionId } from "../events/ids.ts";
import { parseJson } from "../events/json.ts";
import { isStorageTag } from "../events/vocabulary.ts";
import { readPage } from "../log/read.ts";
import { readSessionRow } from "../log/session-row.ts";
import { eventsOf } from "../log/stored-row.ts";
import { saveCheckpoints } from "../projector/checkpoints.ts";
import { wantedTypes } from "../projector/feed.ts";
import {
  buildSchema,
  definitionOf,
  openSession,
  type OpenBuild,
} from "../projector/open-session.ts";
import type { Fold, Projection } from "../projector/projection.ts";
import { RowBuffer } from "../projector/row-buffer.ts";
import { clearSession, writeTable } from "../projector/table-writer.ts";

const TRIES = 100;
const PAUSE_MS = 100;

/** A live build at the session, folded anew. */
interface Refold {
  readonly build: OpenBuild;
  readonly projection: Projection;
  readonly fold: Fold;
  readonly buffer: RowBuffer;
}

/**
 * Folds the session from its first event, and takes it off the parked ones. Returns the numbers of the builds.
 * Locks, in order: builds' advisory locks (shared), lock row, checkpoints, read rows.
 * @throws SessionNotFoundError, SessionDeletedError
 * @throws BuildNotFoundError when a projection has no live build of its version
 * @throws BuildLockedError when projectors have the session for ten seconds on end
 */
export async function rebuildSession(
  db: Db,
  projections: readonly Projection[],
  sessionId: SessionId,
): Promise<readonly number[]> {
  await readSessionRow(db, sessionId);
  const live = await readLive(db, projections);
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const done = await db.transaction((tx) =>
      refold(tx, projections, live, sessionId),
    );
    if (done) return live;
    await sleep(PAUSE_MS);
  }
  throw new BuildLockedError(
    `Projectors are at work on session ${JSON.stringify(sessionId)} all the time. Nothing has changed; try again later.`,
  );
}

async function readLive(
  db: Db,
  projections: readonly Projection[],
): Promise<readonly number[]> {
  const rows = await db.rows<{
    number: number;
    projection: string;
    version: number;
  }>({
    text: "select number, projection, version from turnlog.builds where status = 'live' order by number",
  });
  return projections.map(({ name, version }) => {
    const row = rows.find(
      (candidate) =>
        candidate.projection === name && candidate.version === version,
    );
    if (row === undefined)
      throw new BuildNotFoundError(
        `${name} has no live build of version ${version}, which this release has. See: turnlog builds`,
      );
    return row.number;
  });
}

async function refold(
  tx: Tx,
  projections: readonly Projection[],
  live: readonly number[],
  sessionId: SessionId,
): Promise<boolean> {
  const builds = await openSession(tx, sessionId);
  const [first] = builds;
  if (first === undefined) return false;
  if (first.deleted) throw new SessionNotFoundError({ sessionId });
  const refolds = builds.flatMap((build): Refold[] => {
    const projection = definitionOf(projections, build);
    if (projection === undefined || !live.includes(build.build)) return [];
    const buffer = new RowBuffer();
    const header = parseHeader(parseJson(build.header));
    const fold = projection.fold(header, "", buffer.add);
    return [{ build, projection, fold, buffer }];
  });
  await clear(tx, refolds, sessionId);
  await foldAll(tx, refolds, sessionId, first.facts_head);
  await saveCheckpoints(
    tx,
    sessionId,
    refolds.map(({ build, fold }) => ({
      build,
      nextSeq: first.facts_head,
      state: fold.state(),
    })),
  );
  await tx.rows(
    {
      text: "update turnlog.checkpoints set parked_at = null where session_id = $1 and build = any($2::integer[]) and parked_at is not null",
    },
    [sessionId, live],
  );
  return true;
}

async function clear(
  tx: Tx,
  refolds: readonly Refold[],
  sessionId: SessionId,
): Promise<void> {
  await tx.rows(
    {
      text: "select from turnlog.checkpoints where session_id = $1 order by build for update",
    },
    [sessionId],
  );
  for (const { build, projection } of refolds)
    for (const table of projection.tables)
      await clearSession(tx, buildSchema(build.build), table, sessionId);
}

async function foldAll(
  tx: Tx,
  refolds: readonly Refold[],
  sessionId: SessionId,
  factsHead: number,
): Promise<void> {
  const types = wantedTypes(refolds);
  for (let fromSeq = 0; fromSeq < factsHead;) {
    const rows = await readPage(tx, {
      sessionId,
      fromSeq,
      toSeq: factsHead,
      types,
    });
    for (const row of rows) {
      if (
        isStorageTag(row.type) &&
        !refolds.some(({ fold }) => fold.wantsDeltas())
      )
        continue;
      for (const event of eventsOf(row))
        for (const { build, fold } of refolds)
          if (!build.skipped.includes(event.seq))
            fold.apply({ ...event, sessionId });
    }
    for (const { build, buffer } of refolds)
      for (const [table, changes] of buffer.take())
        await writeTable(tx, buildSchema(build.build), table, changes);
    const last = rows.at(-1);
    fromSeq = last === undefined ? factsHead : last.seq + last.event_count;
  }
}
