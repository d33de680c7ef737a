/** message-db: `write_message`, one call a message, with its own schema from its npm package. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import pg from "pg";
import { metadataOf } from "./plain-sql.ts";
import type { BenchEvent, ContenderKind } from "./contender.ts";

const WRITE = {
  name: "write_message",
  text: "select message_store.write_message($1, $2, $3, $4, $5, $6)",
};

const READ = "select * from message_store.get_stream_messages($1, 0, -1)";

/** Its functions call one another by bare names. */
const SEARCH = "-c search_path=message_store,public";

/** Folders of its SQL in the order its installer has; types come before the functions that use them. */
const FOLDERS = ["schema", "tables", "types", "functions", "indexes"];

export const messageDb: ContenderKind = {
  name: "message-db",
  async install(databaseUrl) {
    const client = new pg.Client({
      connectionString: databaseUrl,
      options: SEARCH,
    });
    await client.connect();
    for (const text of schemaFiles()) await client.query(text);
    await client.end();
  },
  async connect({ databaseUrl, poolSize }) {
    const pool = new pg.Pool({
      connectionString: databaseUrl,
      max: poolSize,
      options: SEARCH,
    });
    return {
      async append(sessionId, events, expectedSeq) {
        for (const [at, event] of events.entries()) {
          const expected = expectedSeq === "any" ? null : expectedSeq + at - 1;
          const values = [...valuesOf(sessionId, event), expected];
          await pool.query({ ...WRITE, values });
        }
      },
      async read(sessionId) {
        const { rows } = await pool.query(READ, [streamOf(sessionId)]);
        return rows.length;
      },
      close: () => pool.end(),
    };
  },
};

function valuesOf(sessionId: string, event: BenchEvent) {
  return [
    crypto.randomUUID(),
    streamOf(sessionId),
    event.type,
    JSON.stringify(event.data),
    JSON.stringify({ time: event.time, ...metadataOf(event) }),
  ];
}

/** One category for all sessions: what a consumer of sessions needs. */
function streamOf(sessionId: string): string {
  return `session-${sessionId}`;
}

/** Without pgcrypto: the server has gen_random_uuid itself. */
function schemaFiles(): readonly string[] {
  const found = createRequire(import.meta.url).resolve(
    "@eventide/message-db/package.json",
  );
  const root = join(dirname(found), "database");
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".sql"))
      .map((name) => readFileSync(join(root, folder, name), "utf8")),
  );
}
