/**
 * Transactions that began before the new builds were filled. A view that is pointed at a new build shows them what they
 * can see of it, which is little or nothing, so the swap waits for them.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "../db/connect.ts";
import { BuildLockedError } from "../errors.ts";

interface OldSnapshot {
  readonly pid: number;
  readonly application: string;
  readonly state: string;
  readonly seconds: number;
}

const LOOK_MS = 100;

/** The moment to wait for: snapshots taken from now on see all that is committed now. */
export async function readMoment(db: Queryable): Promise<string> {
  const [row] = await db.rows<{ moment: string }>({
    text: "select pg_snapshot_xmax(pg_current_snapshot())::text as moment",
  });
  return row?.moment ?? "0";
}

/**
 * Waits until no transaction of this database has a snapshot from before the moment.
 * @param onWait told again and again what is waited for
 * @throws BuildLockedError after `timeoutMs`, naming the connections
 */
export async function waitForSnapshots(
  db: Queryable,
  moment: string,
  options: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly onWait: (text: string) => Promise<void>;
  },
): Promise<void> {
  const deadline = performance.now() + options.timeoutMs;
  for (;;) {
    const old = await readOldSnapshots(db, moment);
    if (old.length === 0 || options.signal.aborted) return;
    const text = `waits for transactions that are older than the new tables: ${old.map(describe).join("; ")}`;
    if (performance.now() >= deadline)
      throw new BuildLockedError(
        `The swap ${text}. They would see empty tables. End them and run the same command again; nothing that is done is lost.`,
        old.map(({ pid }) => pid),
      );
    await options.onWait(text);
    await sleep(LOOK_MS);
  }
}

/** Ages are counted in transaction ids, which wrap around; that of a snapshot is seen by its owner and by `pg_read_all_stats`. */
async function readOldSnapshots(
  db: Queryable,
  moment: string,
): Promise<readonly OldSnapshot[]> {
  return db.rows<OldSnapshot>(
    {
      text: `
        select a.pid, coalesce(a.application_name, '') as application, coalesce(a.state, '') as state,
               coalesce(extract(epoch from clock_timestamp() - a.xact_start), 0)::integer as seconds
        from pg_stat_activity a
        where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_xmin is not null
          and age(a.backend_xmin) > age(((($1::text)::numeric % 4294967296)::bigint::text)::xid)
        order by a.xact_start
        limit 10`,
    },
    [moment],
  );
}

function describe({ pid, application, state, seconds }: OldSnapshot): string {
  const name = application === "" ? "" : ` (${application})`;
  return `process ${pid}${name}, ${state} for ${seconds} s`;
}
