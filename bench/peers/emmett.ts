/** Emmett's event store for Postgres, through its public API. */
import { STREAM_DOES_NOT_EXIST } from "@event-driven-io/emmett";
import { getPostgreSQLEventStore } from "@event-driven-io/emmett-postgresql";
import pg from "pg";
import { metadataOf } from "../src/contenders/plain-sql.ts";
import type { ContenderKind } from "../src/contenders/contender.ts";

export const peer: ContenderKind = {
  name: "emmett",
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
