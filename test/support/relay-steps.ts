/** A relay's steps, one at a time, and what they leave in the control tables. */
import { randomUUID } from "node:crypto";
import { connect, type Db, type Queryable } from "../../src/db/connect.ts";
import { drainOutbox, type Drained } from "../../src/relay/drain.ts";
import { takeLease } from "../../src/relay/lease.ts";
import { eventually } from "./relay-waiting.ts";

/** A relay that leads for a minute. */
export interface Leader {
  readonly holder: string;
  readonly fence: number;
  drain(limit?: number): Promise<Drained | null>;
}

const TTL_MS = 60_000;

/** Takes the lease, from whoever has it. */
export async function lead(db: Db): Promise<Leader> {
  await endLease(db);
  const holder = randomUUID();
  const fence = await takeLease(db, holder, TTL_MS);
  if (fence === null) throw new Error("another relay leads");
  return {
    holder,
    fence,
    drain: (limit = 500) =>
      drainOutbox(db, { holder, fence, limit, ttlMs: TTL_MS }),
  };
}

/** Makes the lease run out now. */
export async function endLease(db: Db): Promise<void> {
  await db.rows({
    text: "update turnlog.lease set until = clock_timestamp() where lane = 0",
  });
}

/** Gives the lease to another relay while its holder is alive, and returns the new holder. */
export async function usurpLease(db: Db): Promise<string> {
  const holder = randomUUID();
  await db.rows(
    {
      text: `
        update turnlog.lease
        set holder = $1, fence = fence + 1, until = clock_timestamp() + interval '1 hour'
        where lane = 0`,
    },
    [holder],
  );
  return holder;
}

export interface LeaseRow {
  readonly holder: string | null;
  readonly fence: number;
  readonly until: Date;
  /** Whether another relay may take it. */
  readonly is_free: boolean;
  readonly last_position: number;
  readonly floor_id: number;
}

export async function readLease(db: Queryable): Promise<LeaseRow> {
  const [row] = await db.rows<LeaseRow>({
    text: `
      select holder, fence, until, until <= clock_timestamp() as is_free, last_position, floor_id
      from turnlog.lease
      where lane = 0`,
  });
  if (row === undefined) throw new Error("there is no lease row");
  return row;
}

export interface FeedRow {
  readonly position: number;
  readonly session_id: string;
  readonly first_seq: number;
  readonly next_seq: number;
  readonly has_facts: boolean;
}

/** The feed of some sessions, in order of position. */
export function readFeed(
  db: Queryable,
  sessionIds: readonly string[],
): Promise<FeedRow[]> {
  return db.rows<FeedRow>(
    {
      text: `
        select position, session_id, first_seq, next_seq, has_facts
        from turnlog.feed
        where session_id = any($1)
        order by position`,
    },
    [sessionIds],
  );
}

/** First seqs of a session's appends in the order of their positions. */
export async function fedSeqs(
  db: Queryable,
  sessionId: string,
): Promise<readonly number[]> {
  const rows = await readFeed(db, [sessionId]);
  return rows.map((row) => row.first_seq);
}

/** First seqs of a session's appends that no relay has taken. */
export async function waitingSeqs(
  db: Queryable,
  sessionId: string,
): Promise<readonly number[]> {
  const rows = await db.rows<{ first_seq: number }>(
    {
      text: "select first_seq from turnlog.outbox where session_id = $1 order by first_seq",
    },
    [sessionId],
  );
  return rows.map((row) => row.first_seq);
}

/** What a session's work row asks for; null where it has none. */
export async function workOf(
  db: Queryable,
  sessionId: string,
): Promise<number | null> {
  const [row] = await db.rows<{ next_seq: number }>(
    { text: "select next_seq from turnlog.work where session_id = $1" },
    [sessionId],
  );
  return row?.next_seq ?? null;
}

/** Waits until so many connections of this database wait for a lock. */
export async function untilBlocked(
  db: Queryable,
  connections: number,
): Promise<void> {
  await eventually(async () => {
    const [row] = await db.rows<{ count: number }>({
      text: `
        select count(*)
        from pg_stat_activity
        where wait_event_type = 'Lock' and datname = current_database()`,
    });
    if (row?.count !== connections)
      throw new Error(`${row?.count} connections wait for a lock`);
  });
}

/** A pool whose connections can be told apart by name. */
export function connectAs(databaseUrl: string, applicationName: string): Db {
  return connect({
    databaseUrl,
    applicationName,
    poolSize: 4,
    preparedStatements: true,
  });
}

/** Ends every connection of that name, and returns how many there were. */
export async function killConnections(
  db: Queryable,
  applicationName: string,
): Promise<number> {
  const killed = await db.rows(
    {
      text: `
        select pg_terminate_backend(pid)
        from pg_stat_activity
        where application_name = $1 and datname = current_database()`,
    },
    [applicationName],
  );
  return killed.length;
}

/** Last statements of the connections of that name, those with a certain text in them. */
export async function connectionsOf(
  db: Queryable,
  applicationName: string,
  text = "",
): Promise<readonly string[]> {
  const rows = await db.rows<{ query: string }>(
    {
      text: `
        select query
        from pg_stat_activity
        where application_name = $1 and datname = current_database() and query like '%' || $2 || '%'`,
    },
    [applicationName, text],
  );
  return rows.map((row) => row.query);
}
