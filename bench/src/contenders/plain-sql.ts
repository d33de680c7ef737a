/**
 * What one writes without thinking about it: a row per event, and a transaction that locks the session, inserts,
 * moves the head on, and leaves a note for whoever processes it.
 */
import pg from "pg";
import type { BenchEvent, ContenderKind } from "./contender.ts";

const SCHEMA = `
  create table sessions (
    session_id text primary key,
    head bigint not null
  );
  create table events (
    session_id text not null,
    seq bigint not null,
    type text not null,
    time_ms bigint not null,
    data jsonb not null,
    metadata jsonb,
    primary key (session_id, seq)
  );
  create table outbox (
    id bigint generated always as identity primary key,
    session_id text not null,
    first_seq bigint not null,
    next_seq bigint not null
  )`;

const INSERT = {
  name: "insert_events",
  text: `
    insert into events (session_id, seq, type, time_ms, data, metadata)
    select $1, $2 + e.n - 1, e.type, e.time_ms, e.data, e.metadata
    from unnest($3::text[], $4::bigint[], $5::jsonb[], $6::jsonb[])
      with ordinality as e (type, time_ms, data, metadata, n)`,
};

const READ = `
  select seq, type, time_ms, data, metadata
  from events
  where session_id = $1
  order by seq`;

const CREATE_SESSION = {
  name: "create_session",
  text: "insert into sessions (session_id, head) values ($1, $2)",
};

const MOVE_HEAD = {
  name: "move_head",
  text: "update sessions set head = $2 where session_id = $1",
};

/** Appends at the end: whoever locks the row is right. */
export const plainSql: ContenderKind = {
  name: "plain SQL",
  async install(databaseUrl) {
    const client = new pg.Client(databaseUrl);
    await client.connect();
    await client.query(SCHEMA);
    await client.end();
  },
  async connect({ databaseUrl, poolSize }) {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });
    return {
      append: (sessionId, events) =>
        appendInTransaction(pool, sessionId, events),
      async read(sessionId) {
        const { rows } = await pool.query(READ, [sessionId]);
        return rows.length;
      },
      close: () => pool.end(),
    };
  },
};

async function appendInTransaction(
  pool: pg.Pool,
  sessionId: string,
  events: readonly BenchEvent[],
): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const { rows } = await client.query<{ head: string }>({
      name: "lock_session",
      text: "select head from sessions where session_id = $1 for update",
      values: [sessionId],
    });
    const head = Number(rows[0]?.head ?? 0);
    const next = head + events.length;
    await client.query({
      ...INSERT,
      values: [sessionId, head, ...columnsOf(events)],
    });
    await client.query({
      ...(rows.length === 0 ? CREATE_SESSION : MOVE_HEAD),
      values: [sessionId, next],
    });
    await client.query({
      name: "note",
      text: "insert into outbox (session_id, first_seq, next_seq) values ($1, $2, $3)",
      values: [sessionId, head, next],
    });
    await client.query("commit");
  } finally {
    client.release();
  }
}

function columnsOf(events: readonly BenchEvent[]) {
  return [
    events.map(({ type }) => type),
    events.map(({ time }) => time),
    events.map(({ data }) => JSON.stringify(data)),
    events.map((event) => JSON.stringify(metadataOf(event))),
  ];
}

/** What an event has beside type, seq, time and data. */
export function metadataOf({ surfaceOp, sourceEventSeqs }: BenchEvent) {
  return {
    ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs }),
    ...(surfaceOp === undefined ? {} : { surfaceOp }),
  };
}
