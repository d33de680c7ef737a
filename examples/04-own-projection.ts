/**
 * Tries a projection of one's own without a database, then reads its view.
 * Run it while `turnlog start` runs with that projection, on the same database:
 *   export TURNLOG_CONFIG=examples/projections/tool-stats.ts TURNLOG_DATABASE_URL=postgres://…
 *   npx tsx src/cli/main.ts migrate; npx tsx src/cli/main.ts start &
 *   npx tsx examples/04-own-projection.ts
 */
import { randomUUID } from "node:crypto";
import pg from "pg";
// In your own project: from "turnlog" and "turnlog/testing".
import { createSessionStore } from "../src/index.ts";
import { given, projectionContract } from "../src/testing.ts";
import { toolStats } from "./projections/tool-stats.ts";

const call = {
  type: "tool/call",
  data: { turn: 1, step: 1, callId: "c1", name: "bash", arguments: "{}" },
};

// Given, when, then: no database.
given(toolStats, [call])
  .when([call])
  .thenRows({
    tool_stats: [{ sessionId: "test-session", calls: 2, failures: 0 }],
  });
for (const { name, check } of projectionContract(toolStats)) {
  await check();
  console.log(`holds: ${name}`);
}

// The same in the read tables.
const databaseUrl = process.env["TURNLOG_DATABASE_URL"] ?? "";
await using store = await createSessionStore({ databaseUrl });
const id = randomUUID();
const { nextSeq } = await store.append(
  id,
  [
    { type: "turn/start", data: { turn: 1 } },
    { type: "step/start", data: { turn: 1, step: 1 } },
    call,
  ],
  { expectedSeq: 0 },
);
await store.waitFor(id, { seq: nextSeq - 1, projections: ["tool_stats"] });

const pool = new pg.Pool({ connectionString: databaseUrl });
const { rows } = await pool.query(
  "select calls::int, failures::int from turnlog_read.tool_stats where session_id = $1",
  [id],
);
console.log(rows);
await pool.end();

/* Prints:
holds: an empty log has no rows
holds: replaying a log gives the same rows and the same state
holds: the rows are the same however the log is cut into batches
holds: the fold goes on from the checkpoint behind every event
holds: events of types that it does not know are no trouble
holds: the fold looks at no clock and at no chance
holds: the fold leaves its events as they are
holds: the state survives JSON
holds: every row can be stored
[ { calls: 1, failures: 0 } ]
*/
