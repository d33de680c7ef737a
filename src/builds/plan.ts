/** What a rebuild will read, write, take and lock: said before anything is done. */
import type { Db } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";
import { parseHeader } from "../events/header.ts";
import { parseJson } from "../events/json.ts";
import { isStorageTag } from "../events/vocabulary.ts";
import { readPage } from "../log/read.ts";
import { eventsOf } from "../log/stored-row.ts";
import { wantedTypes } from "../projector/feed.ts";
import { buildSchema } from "../projector/open-session.ts";
import type { Projection } from "../projector/projection.ts";
import { RowBuffer } from "../projector/row-buffer.ts";

/** How long the sample is folded for, and how many sessions it has, at most. */
const SAMPLE_MS = 1_500;
const SAMPLE_SESSIONS = 40;
/** Keys, indexes and row heads come on top of the values. */
const DISK_FACTOR = 1.6;
const BYTES_A_ROW = 60;

export interface RebuildPlan {
  readonly projections: readonly ProjectionPlan[];
  readonly sessions: number;
  /** Events of all sessions; of them only rows of the log with handled types are read. */
  readonly events: number;
  readonly logRows: number;
  readonly logBytes: number;
  /** Seconds for replay, and for the rest, at the rate below, with one process. */
  readonly seconds: number;
  readonly eventsPerSecond: number;
  /** Where the rate is from: an earlier rebuild of the same projections, or a sample folded just now. */
  readonly rateFrom: "earlier rebuild" | "sample" | "nothing to measure";
  /** How many sessions were folded for the estimate; the other figures are scaled from them. */
  readonly sampledSessions: number;
  /** Bytes that the new tables will need, beside the live ones. */
  readonly diskBytes: number;
  readonly locks: readonly PlannedLock[];
}

export interface ProjectionPlan {
  readonly projection: string;
  readonly version: number;
  /** Null where there is none. */
  readonly liveBuild: number | null;
  readonly liveVersion: number | null;
  /** Older builds that are dropped after the swap: of those that were live, only the last is kept. */
  readonly droppedBuilds: readonly number[];
  readonly rows: number;
  readonly diskBytes: number;
}

interface PlannedLock {
  readonly what: string;
  readonly mode: string;
  readonly holds: string;
  readonly waits: string;
}

interface Totals {
  readonly sessions: number;
  readonly events: number;
}

interface Sample {
  readonly sessions: number;
  readonly events: number;
  readonly logRows: number;
  readonly logBytes: number;
  readonly ms: number;
  /** By projection. */
  readonly rows: ReadonlyMap<string, number>;
  readonly bytes: ReadonlyMap<string, number>;
}

/** Reads sizes, and folds a sample of the sessions in memory for a second and a half at most. Writes nothing. */
export async function planRebuild(
  db: Db,
  projections: readonly Projection[],
): Promise<RebuildPlan> {
  const totals = await readTotals(db);
  const sample = await foldSample(db, projections);
  const factor = sample.events === 0 ? 0 : totals.events / sample.events;
  const earlier = await readEarlierRate(db, projections);
  const eventsPerSecond =
    earlier ?? (sample.ms === 0 ? 0 : sample.events / (sample.ms / 1_000));
  const planned = await Promise.all(
    projections.map((projection) =>
      planProjection(db, projection, sample, factor),
    ),
  );
  return {
    projections: planned,
    ...totals,
    logRows: Math.round(sample.logRows * factor),
    logBytes: Math.round(sample.logBytes * factor),
    eventsPerSecond: Math.round(eventsPerSecond),
    seconds:
      eventsPerSecond === 0
        ? 0
        : Math.ceil((totals.events / eventsPerSecond) * 1.3 + 1),
    rateFrom:
      earlier !== null
        ? "earlier rebuild"
        : sample.events === 0
          ? "nothing to measure"
          : "sample",
    sampledSessions: sample.sessions,
    diskBytes: planned.reduce((sum, { diskBytes }) => sum + diskBytes, 0),
    locks: plannedLocks(projections),
  };
}

async function readTotals(db: Db): Promise<Totals> {
  const [row] = await db.rows<Totals>({
    text: `
      select count(*) as sessions, coalesce(sum(facts_head), 0)::bigint as events
      from turnlog.sessions
      where deleted_at is null and facts_head > 0`,
  });
  return row ?? { sessions: 0, events: 0 };
}

async function foldSample(
  db: Db,
  projections: readonly Projection[],
): Promise<Sample> {
  const sessions = await db.rows<{
    session_id: string;
    header: string;
    facts_head: number;
  }>(
    {
      text: `
        select session_id, header, facts_head
        from turnlog.sessions
        where deleted_at is null and facts_head > 0
        order by md5(session_id)
        limit $1`,
    },
    [SAMPLE_SESSIONS],
  );
  const counts = { sessions: 0, events: 0, logRows: 0, logBytes: 0 };
  const rows = new Map<string, number>();
  const bytes = new Map<string, number>();
  const beganAt = performance.now();
  for (const session of sessions) {
    const folded = await foldSession(db, projections, {
      ...session,
      until: beganAt + SAMPLE_MS,
    });
    counts.sessions += 1;
    counts.events += folded.events;
    counts.logRows += folded.logRows;
    counts.logBytes += folded.logBytes;
    for (const [name, count] of folded.rows)
      rows.set(name, (rows.get(name) ?? 0) + count);
    for (const [name, count] of folded.bytes)
      bytes.set(name, (bytes.get(name) ?? 0) + count);
    if (performance.now() >= beganAt + SAMPLE_MS) break;
  }
  return { ...counts, ms: performance.now() - beganAt, rows, bytes };
}

/** As far as time allows: of a session that is too long, its beginning counts. */
async function foldSession(
  db: Db,
  projections: readonly Projection[],
  session: {
    readonly session_id: string;
    readonly header: string;
    readonly facts_head: number;
    readonly until: number;
  },
): Promise<Omit<Sample, "sessions" | "ms">> {
  const sessionId = SessionId(session.session_id);
  const header = parseHeader(parseJson(session.header));
  const folds = projections.map((projection) => {
    const buffer = new RowBuffer();
    return {
      projection,
      buffer,
      fold: projection.fold(header, "", buffer.add),
    };
  });
  const counts = { logRows: 0, logBytes: 0 };
  let fromSeq = 0;
  while (fromSeq < session.facts_head) {
    const page = await readPage(db, {
      sessionId,
      fromSeq,
      toSeq: session.facts_head,
      types: wantedTypes(folds),
    });
    for (const row of page) {
      counts.logRows += 1;
      counts.logBytes += row.payload.length;
      if (
        isStorageTag(row.type) &&
        !folds.some(({ fold }) => fold.wantsDeltas())
      )
        continue;
      for (const event of eventsOf(row))
        for (const { fold } of folds) fold.apply({ ...event, sessionId });
    }
    const last = page.at(-1);
    fromSeq =
      last === undefined ? session.facts_head : last.seq + last.event_count;
    if (performance.now() >= session.until) break;
  }
  const sizes = folds.map(({ projection, buffer }) => ({
    name: projection.name,
    ...sizeOf(buffer),
  }));
  return {
    ...counts,
    events: fromSeq,
    rows: new Map(sizes.map(({ name, rows }) => [name, rows])),
    bytes: new Map(sizes.map(({ name, bytes }) => [name, bytes])),
  };
}

function sizeOf(buffer: RowBuffer): { rows: number; bytes: number } {
  let rows = 0;
  let bytes = 0;
  for (const { upserts } of buffer.take().values()) {
    rows += upserts.length;
    for (const row of upserts)
      for (const value of Object.values(row))
        bytes += typeof value === "string" ? value.length : 8;
  }
  return { rows, bytes };
}

async function planProjection(
  db: Db,
  { name, version }: Projection,
  sample: Sample,
  factor: number,
): Promise<ProjectionPlan> {
  const builds = await db.rows<{
    number: number;
    version: number;
    status: string;
  }>(
    {
      text: "select number, version, status from turnlog.builds where projection = $1 order by number",
    },
    [name],
  );
  const live = builds.find(({ status }) => status === "live");
  const rows = Math.round((sample.rows.get(name) ?? 0) * factor);
  const estimated =
    (sample.bytes.get(name) ?? 0) * factor * DISK_FACTOR + rows * BYTES_A_ROW;
  const isSame = live !== undefined && live.version === version;
  return {
    projection: name,
    version,
    liveBuild: live?.number ?? null,
    liveVersion: live?.version ?? null,
    droppedBuilds: builds
      .filter(({ status }) => status === "kept")
      .map(({ number }) => number),
    rows,
    diskBytes: Math.max(
      Math.round(estimated),
      isSame ? await readDiskBytes(db, live.number) : 0,
    ),
  };
}

async function readDiskBytes(db: Db, build: number): Promise<number> {
  const [row] = await db.rows<{ bytes: number }>(
    {
      text: `
        select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint as bytes
        from pg_class c
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind = 'r'`,
    },
    [buildSchema(build)],
  );
  return row?.bytes ?? 0;
}

/** Events a second of the last rebuild of just these projections that took long enough to tell. */
async function readEarlierRate(
  db: Db,
  projections: readonly Projection[],
): Promise<number | null> {
  const [row] = await db.rows<{ rate: number }>(
    {
      text: `
        select (r.events / extract(epoch from b.replayed_at - b.created_at))::float8 as rate
        from turnlog.rebuilds b
        join (
          select rebuild, sum(events) as events from turnlog.rebuild_ranges group by rebuild
        ) r on r.rebuild = b.number
        join (
          select rebuild, array_agg(projection order by projection) as projections
          from (
            select rebuild, projection from turnlog.builds
            union
            select rebuild, projection from turnlog.former_builds
          ) a
          group by rebuild
        ) p on p.rebuild = b.number
        where b.step = 'done' and b.replayed_at > b.created_at + interval '1 second' and p.projections = $1::text[]
        order by b.number desc
        limit 1`,
    },
    [projections.map(({ name }) => name).toSorted()],
  );
  return row?.rate ?? null;
}

function plannedLocks(
  projections: readonly Projection[],
): readonly PlannedLock[] {
  const views = projections
    .flatMap((projection) => projection.views.map(({ name }) => name))
    .toSorted();
  return [
    {
      what: "the builds' advisory locks",
      mode: "exclusive",
      holds: "for the swap, some milliseconds; projectors wait, appends don't",
      waits: "1 s for projectors, then tries again",
    },
    {
      what: views.map((name) => `turnlog_read.${name}`).join(", "),
      mode: "access exclusive",
      holds: "for the swap, some milliseconds; readers wait",
      waits: "100 ms for readers, then tries again",
    },
  ];
}
