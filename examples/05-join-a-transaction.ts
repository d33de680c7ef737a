/**
 * Stores a row of its own and events of a session by one commit.
 *   TURNLOG_DATABASE_URL=postgres://… npx tsx examples/05-join-a-transaction.ts
 */
import { randomUUID } from "node:crypto";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import pg from "pg";
// In your own project: from "turnlog".
import { createSessionStore, WrongExpectedSeqError } from "../src/index.ts";

const databaseUrl = process.env["TURNLOG_DATABASE_URL"] ?? "";
await using store = await createSessionStore({ databaseUrl });
const pool = new pg.Pool({ connectionString: databaseUrl });
const db = drizzle(pool);
await pool.query(
  "create table if not exists example_runs (run_id text primary key, session_id text not null)",
);
const runs = pgTable("example_runs", {
  runId: text("run_id").primaryKey(),
  sessionId: text("session_id").notNull(),
});
const sessionId = randomUUID();
const turn = { type: "turn/start", data: { turn: 1 } };

await db.transaction(async (tx) => {
  await tx.insert(runs).values({ runId: randomUUID(), sessionId });
  await store.append(sessionId, [turn], { expectedSeq: 0, tx });
});
console.log(`head ${(await store.session(sessionId)).head}`);

// What throws rolls both back.
const note = { type: "feedback/record", data: { text: "never stored" } };
await db
  .transaction(async (tx) => {
    await tx.insert(runs).values({ runId: randomUUID(), sessionId });
    await store.append(sessionId, [note], { expectedSeq: 1, tx });
    throw new Error("out of budget");
  })
  .catch((error: unknown) => console.log(String(error)));

// A conflict does not end the transaction: your own row can still be stored.
await db.transaction(async (tx) => {
  await tx.insert(runs).values({ runId: randomUUID(), sessionId });
  try {
    await store.append(sessionId, [note], { expectedSeq: 0, tx });
  } catch (error) {
    if (!(error instanceof WrongExpectedSeqError)) throw error;
    console.log(`${error.code}: ${error.expectedSeq}, not ${error.actualSeq}`);
  }
});
const { rows } = await pool.query(
  "select count(*)::integer as runs from example_runs where session_id = $1",
  [sessionId],
);
console.log(rows[0], `head ${(await store.session(sessionId)).head}`);
await pool.end();

/* Prints:
head 1
Error: out of budget
WRONG_EXPECTED_SEQ: 0, not 1
{ runs: 2 } head 1
*/
