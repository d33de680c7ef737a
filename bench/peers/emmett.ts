/** Emmett's event store for Postgres, through its public API. */
import { SQL } from "@event-driven-io/dumbo";
import { STREAM_DOES_NOT_EXIST } from "@event-driven-io/emmett";
import {
  getPostgreSQLEventStore,
  postgreSQLProjection,
  rebuildPostgreSQLProjections,
} from "@event-driven-io/emmett-postgresql";
import pg from "pg";
import { metadataOf } from "../src/contenders/plain-sql.ts";
import type { ContenderKind } from "../src/contenders/contender.ts";

/** What `messages` of Turnlog is at heart: a row for each message. */
const messagesProjection = postgreSQLProjection({
  name: "messages",
  canHandle: ["user/message", "assistant/message", "tool/result"],
  init: async ({ context }) => {
    await context.execute.command(
      SQL`create table if not exists messages (session_id text not null, seq bigint not null, type text not null, content text not null, primary key (session_id, seq))`,
    );
  },
  truncate: async ({ execute }) => {
    await execute.command(SQL`truncate table messages`);
  },
  handle: async (events, { execute }) => {
    await execute.batchCommand(
      events.map(({ type, data, metadata }) => {
        const { streamName, streamPosition } = metadata;
        return SQL`insert into messages (session_id, seq, type, content) values (${streamName}, ${String(streamPosition)}, ${type}, ${JSON.stringify(data)})`;
      }),
    );
  },
});

export const peer: ContenderKind = {
  name: "emmett",
  async rebuildMessages(databaseUrl) {
    const consumer = rebuildPostgreSQLProjections({
      connectionString: databaseUrl,
      projections: [messagesProjection],
      pulling: { batchSize: 1_000 },
    });
    await consumer.start();
    await consumer.close();
  },
  async install(databaseUrl) {
    const store = getPostgreSQLEventStore(databaseUrl);
    await store.schema.migrate();
    await store.close();
  },
  async connect({ databaseUrl, poolSize }) {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: poolSize });
    const store = getPostgreSQLEventStore(databaseUrl, {
      schema: { autoMigration: "None" },
      connectionOptions: { pooled: true, pool },
    });
    return {
      async append(sessionId, events, expectedSeq) {
        const given = events.map((event) => ({
          type: event.type,
          data: dataOf(event.data),
          metadata: { time: event.time, ...metadataOf(event) },
        }));
        await store.appendToStream(sessionId, given, expected(expectedSeq));
      },
      async read(sessionId) {
        const { events } = await store.readStream(sessionId);
        return events.length;
      },
      async close() {
        await store.close();
        await pool.end();
      },
    };
  },
};

function expected(seq: number | "any") {
  if (seq === "any") return {};
  return seq === 0
    ? { expectedStreamVersion: STREAM_DOES_NOT_EXIST }
    : { expectedStreamVersion: BigInt(seq) };
}

/** Its events have objects as data, which ours have too. */
function dataOf(data: unknown): Record<string, unknown> {
  return typeof data === "object" && data !== null ? { ...data } : { data };
}
