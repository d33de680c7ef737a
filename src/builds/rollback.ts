/** Points the views of projections back at the builds that were live before. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "../db/connect.ts";
import { BuildLockedError, BuildNotFoundError } from "../errors.ts";
import { markBehind, workBehind } from "./behind.ts";
import { readKept, type EndedBuild } from "./end-builds.ts";
import { readMoment, waitForSnapshots } from "./old-snapshots.ts";
import type { ViewDefinition } from "./point-views.ts";
import { swapBuilds } from "./swap.ts";
import { requireFed } from "./workers.ts";

const LOOK_MS = 50;

export interface RollbackOptions {
  /** How long it waits for projectors to bring the kept builds to the heads, for old transactions, and for locks, in ms each. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Told what it waits for. */
  readonly onWait: (text: string) => Promise<void>;
}

/**
 * Waits until projectors have brought the kept builds to the heads, also over erasures, then swaps all at once. The
 * builds that were live until now are kept in their place. Returns false when told to stop.
 * @throws BuildNotFoundError when a projection has no kept build
 * @throws BuildUnfedError when no running projector has the version of one
 * @throws BuildLockedError when one of the waits takes too long: nothing has changed
 */
export async function rollBack(
  db: Db,
  projections: readonly string[],
  options: RollbackOptions,
): Promise<readonly EndedBuild[] | null> {
  const kept = await latestKept(db, projections);
  const numbers = kept.map(({ build }) => build);
  await requireVersions(db, kept);
  await markBehind(db, numbers);
  if (!(await untilFed(db, kept, options))) return null;
  await waitForSnapshots(db, await readMoment(db), {
    ...options,
    timeoutMs: options.waitMs,
  });
  const views = await readSavedViews(db, numbers);
  for (;;) {
    const isSwapped = await swapBuilds(db, {
      ...options,
      timeoutMs: options.waitMs,
      builds: kept.map(({ build, projection }) => ({
        build,
        projection,
        views: views.get(build) ?? [],
      })),
      prepare: async (tx) => (await workBehind(tx, numbers, 1)).length === 0,
      finish: (tx) => requireVersions(tx, kept),
    });
    if (isSwapped) return kept;
    if (!(await untilFed(db, kept, options))) return null;
  }
}

async function latestKept(
  db: Db,
  projections: readonly string[],
): Promise<readonly EndedBuild[]> {
  const kept = await readKept(db, projections);
  return projections.map((name) => {
    const latest = kept.find(({ projection }) => projection === name);
    if (latest === undefined)
      throw new BuildNotFoundError(
        `${name} has no kept build to roll back to. See: turnlog builds`,
      );
    return latest;
  });
}

function requireVersions(
  db: Pick<Tx, "rows">,
  builds: readonly EndedBuild[],
): Promise<void> {
  return requireFed(
    db,
    builds.map(({ projection, version }) => ({ name: projection, version })),
  );
}

/** Projectors do the work; here it is only watched. */
async function untilFed(
  db: Db,
  kept: readonly EndedBuild[],
  { waitMs, signal, onWait }: RollbackOptions,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  const numbers = kept.map(({ build }) => build);
  for (;;) {
    if (signal.aborted) return false;
    const behind = await workBehind(db, numbers, 1_000);
    if (behind.length === 0) return true;
    await requireVersions(db, kept);
    const text = `waits for projectors to bring the kept builds to the heads of ${behind.length === 1_000 ? "1,000 or more" : behind.length} sessions`;
    if (performance.now() >= deadline)
      throw new BuildLockedError(
        `The rollback ${text}, and gave up. Nothing has changed; try again when they have.`,
      );
    await onWait(text);
    await sleep(LOOK_MS);
  }
}

async function readSavedViews(
  db: Db,
  builds: readonly number[],
): Promise<ReadonlyMap<number, readonly ViewDefinition[]>> {
  const rows = await db.rows<{
    build: number;
    name: string;
    definition: string;
    comments: string;
  }>(
    {
      text: "select build, name, definition, comments from turnlog.build_views where build = any($1::integer[]) order by build, name",
    },
    [builds],
  );
  const views = new Map<number, ViewDefinition[]>();
  for (const { build, name, definition, comments } of rows)
    views.set(build, [
      ...(views.get(build) ?? []),
      { name, definition, comments: readComments(comments) },
    ]);
  return views;
}

/** They are text, all of them: so they were written. */
function readComments(text: string): Readonly<Record<string, string>> {
  const parsed: unknown = JSON.parse(text);
  return typeof parsed === "object" && parsed !== null
    ? Object.fromEntries(
        Object.entries(parsed).map(([name, comment]) => [
          name,
          String(comment),
        ]),
      )
    : {};
}
