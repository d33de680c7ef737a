/** Where appends stand on their way into the read tables: one figure a hop, each of them read from what is so now. */
import type { Queryable } from "../db/connect.ts";

/** What is on its way. Reading it costs as much as there is behind, however many sessions are stored. */
export interface PipelineFlow {
  /** Appends that no relay has taken yet, and how long the oldest has waited, in ms. */
  readonly outbox: {
    readonly appends: number;
    readonly oldestMs: number | null;
  };
  readonly relay: {
    /** A relay has renewed its lease in time. */
    readonly isAlive: boolean;
    readonly holder: string | null;
    /** How long the lease lasts, in ms; below 0, since when it is over. A leader renews it every second or two. */
    readonly leaseMs: number;
    /** Position of the newest append in the feed. */
    readonly lastPosition: string;
  };
  /** Sessions on the work list, and how long the oldest has waited to be folded, in ms. */
  readonly work: {
    readonly sessions: number;
    readonly oldestMs: number | null;
  };
  readonly projections: readonly ProjectionFlow[];
}

/** A build, and what it has not folded. Sessions that no list knows of are missing until the reconciler has found them. */
interface ProjectionFlow {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
  readonly status: string;
  readonly sessionsBehind: number;
  readonly eventsBehind: number;
  /** How long the oldest event that it has not folded has waited, in ms; null when there is none. */
  readonly lagMs: number | null;
  readonly failing: number;
  readonly parked: number;
}

export interface PipelineStatus extends PipelineFlow {
  /** Sessions and events that are stored. */
  readonly sessions: number;
  readonly events: number;
}

interface HopsRow {
  readonly outbox: number;
  readonly outbox_ms: number | null;
  readonly holder: string | null;
  readonly alive: boolean;
  readonly lease_ms: number;
  readonly last_position: string;
  readonly work: number;
  readonly work_ms: number | null;
}

interface ProjectionRow {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
  readonly status: string;
  readonly sessions_behind: number;
  readonly events_behind: number;
  readonly lag_ms: number | null;
  readonly failing: number;
  readonly parked: number;
}

/** The flow, and how much is stored: that reads every session's row, for people and not for a dashboard. */
export async function readStatus(db: Queryable): Promise<PipelineStatus> {
  const [totals] = await db.rows<{ sessions: number; events: number }>({
    text: `
      select count(*) as sessions, coalesce(sum(head), 0)::bigint as events
      from turnlog.sessions
      where deleted_at is null`,
  });
  const { sessions = 0, events = 0 } = totals ?? {};
  return { sessions, events, ...(await readFlow(db)) };
}

/** Reads each hop; the figures are of one moment each, not of the same one. */
export async function readFlow(db: Queryable): Promise<PipelineFlow> {
  const [hops] = await db.rows<HopsRow>({
    text: `
      select o.appends as outbox, ${ms("o.since")} as outbox_ms,
             l.holder, coalesce(l.holder is not null and l.until > clock_timestamp(), false) as alive,
             (extract(epoch from l.until - clock_timestamp()) * 1000)::bigint as lease_ms,
             l.last_position::text as last_position,
             w.sessions as work, ${ms("w.since")} as work_ms
      from turnlog.lease l
      cross join (select count(*) as appends, min(since) as since from turnlog.outbox) o
      cross join (select count(*) as sessions, min(since) as since from turnlog.work) w
      where l.lane = 0`,
  });
  return {
    outbox: {
      appends: hops?.outbox ?? 0,
      oldestMs: hops?.outbox_ms ?? null,
    },
    relay: {
      isAlive: hops?.alive ?? false,
      holder: hops?.holder ?? null,
      leaseMs: hops?.lease_ms ?? 0,
      lastPosition: hops?.last_position ?? "0",
    },
    work: { sessions: hops?.work ?? 0, oldestMs: hops?.work_ms ?? null },
    projections: await readProjections(db),
  };
}

/** Looks at the sessions that outbox, work list and failures know of. */
async function readProjections(
  db: Queryable,
): Promise<readonly ProjectionFlow[]> {
  const rows = await db.rows<ProjectionRow>({
    text: `
      with pending as (
        select p.session_id, min(p.since) as since
        from (
          select session_id, since from turnlog.work
          union all
          select session_id, since from turnlog.outbox where facts_next_seq is not null
          union all
          select session_id, null from turnlog.checkpoints where next_at is not null
          union all
          select session_id, null from turnlog.checkpoints where parked_at is not null
        ) p
        group by p.session_id
      ), standing as (
        select b.number, c.next_at, c.parked_at, coalesce(c.failed_at, p.since) as since,
               case when c.incarnation = s.incarnation and c.redaction_generation = s.redaction_generation
                    then greatest(s.facts_head - c.next_seq, 0) else s.facts_head end as behind
        from pending p
        join turnlog.sessions s on s.session_id = p.session_id and s.deleted_at is null
        cross join turnlog.builds b
        left join turnlog.checkpoints c on c.session_id = s.session_id and c.build = b.number
      )
      select b.projection, b.version, b.number as build, b.status,
             count(*) filter (where t.behind > 0) as sessions_behind,
             coalesce(sum(t.behind), 0)::bigint as events_behind,
             ${ms("min(t.since) filter (where t.behind > 0)")} as lag_ms,
             count(t.next_at) as failing,
             count(t.parked_at) as parked
      from turnlog.builds b
      left join standing t on t.number = b.number
      group by b.projection, b.version, b.number, b.status
      order by b.projection, b.number`,
  });
  return rows.map((row) => ({
    projection: row.projection,
    version: row.version,
    build: row.build,
    status: row.status,
    sessionsBehind: row.sessions_behind,
    eventsBehind: row.events_behind,
    lagMs: row.lag_ms,
    failing: row.failing,
    parked: row.parked,
  }));
}

/** Since when, as ms until now; a transaction that began after this one's clock was read counts as now. */
function ms(since: string): string {
  const age = `extract(epoch from clock_timestamp() - ${since})`;
  return `(case when ${age} < 0 then 0 else ${age} end * 1000)::bigint`;
}
