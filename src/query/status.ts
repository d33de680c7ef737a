/** Where appends stand on their way into the read tables: one figure a hop. */
import type { Queryable } from "../db/connect.ts";

export interface PipelineStatus {
  readonly sessions: number;
  readonly events: number;
  /** Appends that no relay has taken yet, and how long the oldest session behind has waited. */
  readonly outbox: number;
  readonly relay: {
    readonly isAlive: boolean;
    readonly holder: string | null;
    readonly lastPosition: string;
  };
  /** Sessions on the work list, and since when the oldest is on it, in ms. */
  readonly work: {
    readonly sessions: number;
    readonly oldestMs: number | null;
  };
  readonly projections: readonly ProjectionStatus[];
}

interface ProjectionStatus {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
  readonly status: string;
  readonly sessionsBehind: number;
  readonly eventsBehind: number;
  readonly failing: number;
  readonly parked: number;
}

interface HopsRow {
  readonly sessions: number;
  readonly events: number;
  readonly outbox: number;
  readonly holder: string | null;
  readonly alive: boolean;
  readonly last_position: string;
  readonly work: number;
  readonly oldest_ms: number | null;
}

interface ProjectionRow {
  readonly projection: string;
  readonly version: number;
  readonly build: number;
  readonly status: string;
  readonly sessions_behind: number;
  readonly events_behind: number;
  readonly failing: number;
  readonly parked: number;
}

/** Reads each hop; the figures are of one moment each, not of the same one. */
export async function readStatus(db: Queryable): Promise<PipelineStatus> {
  const [hops] = await db.rows<HopsRow>({
    text: `
      select (select count(*) from turnlog.sessions where deleted_at is null) as sessions,
             (select coalesce(sum(head), 0)::bigint from turnlog.sessions where deleted_at is null) as events,
             (select count(*) from turnlog.outbox) as outbox,
             l.holder, coalesce(l.holder is not null and l.until > clock_timestamp(), false) as alive,
             l.last_position::text as last_position,
             (select count(*) from turnlog.work) as work,
             (select (extract(epoch from clock_timestamp() - min(w.since)) * 1000)::bigint from turnlog.work w) as oldest_ms
      from turnlog.lease l
      where l.lane = 0`,
  });
  const projections = await db.rows<ProjectionRow>({
    text: `
      select b.projection, b.version, b.number as build, b.status,
             count(*) filter (where coalesce(c.next_seq, 0) < s.facts_head) as sessions_behind,
             coalesce(sum(s.facts_head - coalesce(c.next_seq, 0))
                      filter (where coalesce(c.next_seq, 0) < s.facts_head), 0)::bigint as events_behind,
             count(*) filter (where c.next_at is not null) as failing,
             count(*) filter (where c.parked_at is not null) as parked
      from turnlog.builds b
      left join turnlog.sessions s on s.deleted_at is null
      left join turnlog.checkpoints c on c.session_id = s.session_id and c.build = b.number
      group by b.projection, b.version, b.number, b.status
      order by b.projection, b.number`,
  });
  return {
    sessions: hops?.sessions ?? 0,
    events: hops?.events ?? 0,
    outbox: hops?.outbox ?? 0,
    relay: {
      isAlive: hops?.alive ?? false,
      holder: hops?.holder ?? null,
      lastPosition: hops?.last_position ?? "0",
    },
    work: { sessions: hops?.work ?? 0, oldestMs: hops?.oldest_ms ?? null },
    projections: projections.map((row) => ({
      projection: row.projection,
      version: row.version,
      build: row.build,
      status: row.status,
      sessionsBehind: row.sessions_behind,
      eventsBehind: row.events_behind,
      failing: row.failing,
      parked: row.parked,
    })),
  };
}
