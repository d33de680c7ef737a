/** The swap: the read views are pointed at other builds, all at once, in one short transaction. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db, Tx } from "../db/connect.ts";
import { BuildLockedError } from "../errors.ts";
import { lockBuilds } from "./add-build.ts";
import { isLockTrouble } from "./lock-retries.ts";
import { pointViews, readViews, type ViewDefinition } from "./point-views.ts";

/** How long a view may keep its readers waiting for us, and projectors. */
const VIEW_LOCK = "100ms";
const BUILD_LOCK = "1s";
const LONGEST_PAUSE_MS = 500;

/** A build that is to go live, for the projection's live one where there is one. */
interface SwapBuild {
  readonly projection: string;
  readonly build: number;
  readonly views: readonly ViewDefinition[];
}

export interface Swap {
  readonly builds: readonly SwapBuild[];
  /** Called under the builds' locks, when no projector is at work: the last look, and the last events. False gives up. */
  readonly prepare: (tx: Tx) => Promise<boolean>;
  /** Called at the end, for what must be true together with the swap. */
  readonly finish: (tx: Tx) => Promise<void>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onWait: (text: string) => Promise<void>;
}

/**
 * Tries again until it has all locks within their short times; readers and projectors go on in between. Returns false
 * when `prepare` gave up, or it was told to stop: then nothing has changed.
 * Locks, in order, until the commit: advisory (7486, 0); advisory (7486, number) of the builds that go live and of those they replace,
 * exclusively; what `prepare` takes; each view, by name, access exclusive; rows of builds.
 * @throws BuildLockedError after `timeoutMs`, naming who holds the locks
 */
export async function swapBuilds(db: Db, swap: Swap): Promise<boolean> {
  const deadline = performance.now() + swap.timeoutMs;
  for (let pauseMs = 20; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (swap.signal.aborted) return false;
    try {
      return await db.transaction((tx) => swapOnce(tx, swap));
    } catch (error) {
      if (!isLockTrouble(error)) throw error;
      const blockers = await readHolders(db, swap.builds);
      const text = `waits for readers of the views or for projectors${blockers.length === 0 ? "" : `, such as process ${blockers.join(", ")}`}`;
      if (performance.now() >= deadline)
        throw new BuildLockedError(
          `The swap ${text}, and gave up. Nothing has changed; run the same command again, when long statements on the views have ended.`,
          blockers,
        );
      await swap.onWait(text);
      await sleep(pauseMs);
    }
  }
}

async function swapOnce(tx: Tx, swap: Swap): Promise<boolean> {
  await tx.rows({ text: `set local lock_timeout = '${BUILD_LOCK}'` });
  await lockBuilds(tx);
  const replaced = await readLive(tx, swap.builds);
  const numbers = [
    ...swap.builds.map(({ build }) => build),
    ...replaced.map(({ number }) => number),
  ].toSorted((a, b) => a - b);
  for (const number of numbers)
    await tx.rows({ text: "select pg_advisory_xact_lock(7486, $1)" }, [number]);
  if (!(await swap.prepare(tx))) return false;
  await tx.rows({ text: `set local lock_timeout = '${VIEW_LOCK}'` });
  const views = swap.builds.flatMap((build) => build.views);
  const gone: string[] = [];
  for (const { number } of replaced) {
    const before = await readViews(tx, number);
    await saveViews(tx, number, before);
    gone.push(
      ...before
        .map(({ name }) => name)
        .filter((name) => !views.some((view) => view.name === name)),
    );
  }
  await pointViews(tx, views, gone);
  await setLive(tx, swap.builds);
  await swap.finish(tx);
  return true;
}

async function readLive(
  tx: Tx,
  builds: readonly SwapBuild[],
): Promise<readonly { readonly number: number }[]> {
  return tx.rows<{ number: number }>(
    {
      text: "select number from turnlog.builds where status = 'live' and projection = any($1::text[]) order by number",
    },
    [builds.map(({ projection }) => projection)],
  );
}

/** What the views were, for a rollback. */
async function saveViews(
  tx: Tx,
  build: number,
  views: readonly ViewDefinition[],
): Promise<void> {
  await tx.rows(
    {
      text: `
        with gone as (delete from turnlog.build_views where build = $1 and name <> all($2::text[]))
        insert into turnlog.build_views (build, name, definition, comments)
        select $1, v.name, v.definition, v.comments
        from unnest($2::text[], $3::text[], $4::text[]) as v (name, definition, comments)
        on conflict (build, name) do update set definition = excluded.definition, comments = excluded.comments`,
    },
    [
      build,
      views.map(({ name }) => name),
      views.map(({ definition }) => definition),
      views.map(({ comments }) => JSON.stringify(comments)),
    ],
  );
}

async function setLive(tx: Tx, builds: readonly SwapBuild[]): Promise<void> {
  await tx.rows(
    {
      text: "update turnlog.builds set status = 'kept' where status = 'live' and projection = any($1::text[])",
    },
    [builds.map(({ projection }) => projection)],
  );
  const live = await tx.rows(
    {
      text: `
        update turnlog.builds
        set status = 'live', live_at = now()
        where number = any($1::integer[])
        returning number`,
    },
    [builds.map(({ build }) => build)],
  );
  if (live.length !== builds.length)
    throw new BuildLockedError(
      "A build that was to go live is gone: somebody cancelled or dropped it. Nothing has changed. See: turnlog builds",
    );
}

/** Connections that hold a lock on the views or the builds, for the report. */
async function readHolders(
  db: Db,
  builds: readonly SwapBuild[],
): Promise<readonly number[]> {
  const rows = await db.rows<{ pid: number }>(
    {
      text: `
        select distinct l.pid
        from pg_locks l
        left join pg_class c on c.oid = l.relation
        left join pg_namespace n on n.oid = c.relnamespace
        where l.granted and l.pid <> pg_backend_pid()
          and (n.nspname = 'turnlog_read' and c.relname = any($1::text[])
               or l.locktype = 'advisory' and l.classid = 7486 and l.objid = any($2::oid[]))
        order by l.pid
        limit 10`,
    },
    [
      builds.flatMap(({ views }) => views.map(({ name }) => name)),
      builds.map(({ build }) => build),
    ],
  );
  return rows.map(({ pid }) => pid);
}
