/** Builds and rebuilds as an operator sees them. */
import type { Queryable } from "../db/connect.ts";
import { buildSchema } from "../projector/open-session.ts";

export interface BuildListRow {
  readonly build: number;
  readonly projection: string;
  readonly version: number;
  /** `building`, `feeding`, `live`, `kept`; `cancelled` or `dropped` for one that is over. */
  readonly status: string;
  readonly rebuild: number | null;
  readonly createdAt: Date;
  readonly liveAt: Date | null;
  /** Tables and indexes; 0 for one that is over. */
  readonly bytes: number;
  /** A running projector has its version. */
  readonly isFed: boolean;
}

export interface RebuildProgress {
  readonly rebuild: number;
  readonly step: string;
  readonly builds: readonly {
    readonly build: number;
    readonly projection: string;
    readonly version: number;
  }[];
  readonly events: number;
  readonly doneEvents: number;
  readonly ranges: number;
  readonly doneRanges: number;
  /** Ranges that somebody works on. */
  readonly activeRanges: number;
  /** Since the last chunk of the replay, in ms; null before the first. */
  readonly silentMs: number | null;
  readonly elapsedMs: number;
  /** Why it stands still, or what it waits for; null while it gets on. */
  readonly trouble: string | null;
}

/** Builds that are there, by projection and number; with `isAll` those too that are over. */
export async function listBuilds(
  db: Queryable,
  isAll: boolean,
): Promise<readonly BuildListRow[]> {
  const rows = await db.rows<{
    number: number;
    projection: string;
    version: number;
    status: string;
    rebuild: number | null;
    created_at: Date;
    live_at: Date | null;
    bytes: number;
    is_fed: boolean;
  }>(
    {
      text: `
        select b.number, b.projection, b.version, b.status, b.rebuild, b.created_at, b.live_at,
               coalesce((
                 select sum(pg_total_relation_size(c.oid))
                 from pg_class c
                 join pg_namespace n on n.oid = c.relnamespace
                 where n.nspname = $2 || b.number and c.relkind = 'r'), 0)::bigint as bytes,
               exists (
                 select from turnlog.workers k
                 where k.projection = b.projection and k.version = b.version and k.alive_until > clock_timestamp()) as is_fed
        from turnlog.builds b
        union all
        select f.number, f.projection, f.version, f.outcome, f.rebuild, f.created_at, null, 0, false
        from turnlog.former_builds f
        where $1
        order by projection, number`,
    },
    [isAll, SCHEMA_PREFIX],
  );
  return rows.map((row) => ({
    build: row.number,
    projection: row.projection,
    version: row.version,
    status: row.status,
    rebuild: row.rebuild,
    createdAt: row.created_at,
    liveAt: row.live_at,
    bytes: row.bytes,
    isFed: row.is_fed,
  }));
}

const SCHEMA_PREFIX = buildSchema(0).slice(0, -1);

/** How long a rebuild may say nothing before somebody should look. */
const SILENT_MS = 30_000;
/** Between two steps nobody holds it for a moment. */
const BETWEEN_STEPS_MS = 3_000;

/** Rebuilds that are under way, each with what keeps it. */
export async function readRebuilds(
  db: Queryable,
): Promise<readonly RebuildProgress[]> {
  const rows = await db.rows<{
    number: number;
    step: string;
    trouble: string | null;
    is_held: boolean;
    builds: RebuildProgress["builds"];
    events: number;
    done_events: number;
    ranges: number;
    done_ranges: number;
    active_ranges: number;
    silent_ms: number | null;
    elapsed_ms: number;
  }>({
    text: `
      select r.number, r.step, r.trouble, r.held_until > clock_timestamp() and r.holder is not null as is_held,
             (select coalesce(jsonb_agg(jsonb_build_object('build', b.number, 'projection', b.projection, 'version', b.version) order by b.number), '[]')
              from turnlog.builds b where b.rebuild = r.number) as builds,
             coalesce(sum(g.events), 0)::bigint as events, coalesce(sum(g.done_events), 0)::bigint as done_events,
             count(g.range) as ranges, count(g.done_at) as done_ranges,
             count(g.range) filter (where g.done_at is null and g.held_until > clock_timestamp() and g.holder is not null) as active_ranges,
             (extract(epoch from clock_timestamp() - max(g.moved_at)) * 1000)::bigint as silent_ms,
             (extract(epoch from clock_timestamp() - r.created_at) * 1000)::bigint as elapsed_ms
      from turnlog.rebuilds r
      left join turnlog.rebuild_ranges g on g.rebuild = r.number
      where r.step not in ('done', 'cancelled')
      group by r.number
      order by r.number`,
  });
  return rows.map((row) => ({
    rebuild: row.number,
    step: row.step,
    builds: row.builds,
    events: row.events,
    doneEvents: row.done_events,
    ranges: row.ranges,
    doneRanges: row.done_ranges,
    activeRanges: row.active_ranges,
    silentMs: row.silent_ms,
    elapsedMs: row.elapsed_ms,
    trouble: troubleOf(row),
  }));
}

function troubleOf(row: {
  readonly step: string;
  readonly trouble: string | null;
  readonly is_held: boolean;
  readonly active_ranges: number;
  readonly silent_ms: number | null;
  readonly elapsed_ms: number;
}): string | null {
  if (row.trouble !== null) return row.trouble;
  const isAlone =
    row.step === "replaying" ? row.active_ranges === 0 : !row.is_held;
  const silentMs = row.silent_ms ?? row.elapsed_ms;
  if (isAlone && silentMs > BETWEEN_STEPS_MS)
    return "no process works on it: run the same command again to go on, or cancel it";
  if (row.step === "replaying" && silentMs > SILENT_MS)
    return `nothing was replayed for ${Math.round(silentMs / 1_000)} s: look for long statements and locks in pg_stat_activity`;
  return null;
}
