/** Which sessions of a range still lack something in which of the new builds. */
import type { Queryable } from "../db/connect.ts";
import type { NewBuild } from "./rebuild-row.ts";

/** A session to replay, as it was when it was looked at. */
export interface ReplaySession {
  readonly sessionId: string;
  readonly incarnation: string;
  readonly redactionGeneration: number;
  readonly header: string;
  /** Replayed up to here. */
  readonly factsHead: number;
  /** Where the builds stand that can be replayed: in the order of the builds. */
  readonly starts: readonly ReplayStart[];
}

interface ReplayStart {
  readonly build: NewBuild;
  readonly nextSeq: number;
  /** Empty before the first event. */
  readonly state: string;
}

interface SessionRow {
  readonly session_id: string;
  readonly incarnation: string;
  readonly redaction_generation: number;
  readonly header: string;
  readonly facts_head: number;
}

interface CheckpointRow {
  readonly session_id: string;
  readonly build: number;
  readonly next_seq: number;
  readonly state: string;
  /** It failed, was parked, or is of another incarnation or generation: a matter of the ordinary path. */
  readonly is_apart: boolean;
}

/** Sessions of a page, and of them those with something to replay. */
export interface ReplayPage {
  readonly lastId: string | null;
  readonly sessions: readonly ReplaySession[];
  /** Sessions and events in the page, replayed or not. */
  readonly count: number;
  readonly events: number;
}

/** Up to `limit` sessions from `fromId`, or after it, below `untilId`; those with events to pass over are left to the ordinary path. */
export async function readReplayPage(
  db: Queryable,
  page: {
    readonly builds: readonly NewBuild[];
    readonly fromId: string;
    readonly isAfter: boolean;
    readonly untilId: string | null;
    readonly limit: number;
  },
): Promise<ReplayPage> {
  const rows = await db.rows<SessionRow>(
    {
      name: "turnlog_replay_sessions",
      text: `
        select session_id, incarnation, redaction_generation, header, facts_head
        from turnlog.sessions s
        where session_id >= $1 and (not $2 or session_id > $1) and ($3::text is null or session_id < $3)
          and deleted_at is null and facts_head > 0
          and not exists (
            select from turnlog.skipped_events k
            where k.session_id = s.session_id and k.build = any($5::integer[]))
        order by session_id
        limit $4`,
    },
    [
      page.fromId,
      page.isAfter,
      page.untilId,
      page.limit,
      page.builds.map(({ build }) => build),
    ],
  );
  const checkpoints = await readCheckpoints(
    db,
    rows.map((row) => row.session_id),
    page.builds.map(({ build }) => build),
  );
  return {
    lastId: rows.at(-1)?.session_id ?? null,
    count: rows.length,
    events: rows.reduce((sum, row) => sum + row.facts_head, 0),
    sessions: rows.flatMap((row) => {
      const starts = startsOf(row, page.builds, checkpoints);
      return starts.length === 0
        ? []
        : [
            {
              sessionId: row.session_id,
              incarnation: row.incarnation,
              redactionGeneration: row.redaction_generation,
              header: row.header,
              factsHead: row.facts_head,
              starts,
            },
          ];
    }),
  };
}

async function readCheckpoints(
  db: Queryable,
  sessionIds: readonly string[],
  builds: readonly number[],
): Promise<ReadonlyMap<string, CheckpointRow>> {
  const rows = await db.rows<CheckpointRow>(
    {
      name: "turnlog_replay_checkpoints",
      text: `
        select c.session_id, c.build, c.next_seq, c.state,
               c.attempts > 0 or c.parked_at is not null
               or c.incarnation <> s.incarnation or c.redaction_generation <> s.redaction_generation as is_apart
        from turnlog.checkpoints c
        join turnlog.sessions s on s.session_id = c.session_id
        where c.session_id = any($1::text[]) and c.build = any($2::integer[])`,
    },
    [sessionIds, builds],
  );
  return new Map(rows.map((row) => [keyOf(row.session_id, row.build), row]));
}

function startsOf(
  row: SessionRow,
  builds: readonly NewBuild[],
  checkpoints: ReadonlyMap<string, CheckpointRow>,
): ReplayStart[] {
  return builds.flatMap((build) => {
    const checkpoint = checkpoints.get(keyOf(row.session_id, build.build));
    if (checkpoint === undefined) return [{ build, nextSeq: 0, state: "" }];
    const isDone = checkpoint.next_seq >= row.facts_head;
    return isDone || checkpoint.is_apart
      ? []
      : [{ build, nextSeq: checkpoint.next_seq, state: checkpoint.state }];
  });
}

function keyOf(sessionId: string, build: number): string {
  return `${build} ${sessionId}`;
}
