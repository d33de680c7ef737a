/**
 * Joins the read views in a drizzle query of your own, over your own pool.
 * Run it while `turnlog start` runs, on the same database:
 *   TURNLOG_DATABASE_URL=postgres://… npx tsx examples/03-query-the-views.ts
 */
import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
// In your own project: from "turnlog".
import {
  createSessionStore,
  sessionsView,
  tokenStatsView,
} from "../src/index.ts";

const databaseUrl = process.env["TURNLOG_DATABASE_URL"] ?? "";
const id = randomUUID();
{
  await using store = await createSessionStore({ databaseUrl });
  const usage = {
    inputTokens: 1_200,
    outputTokens: 80,
    cacheReadTokens: 3_600,
  };
  const message = {
    id: "m2",
    role: "assistant",
    content: [{ type: "text", text: "Done." }],
    source: { kind: "model", provider: "example-ai", model: "sonar-large" },
  };
  const { nextSeq } = await store.append(
    id,
    [
      {
        type: "session/title",
        data: {
          title: "Fix the build",
          messageSeqs: [],
          source: { kind: "user" },
        },
      },
      { type: "turn/start", data: { turn: 1 } },
      { type: "step/start", data: { turn: 1, step: 1 } },
      {
        type: "assistant/message",
        data: { turn: 1, step: 1, message, usage },
        surfaceOp: "append",
      },
    ],
    { expectedSeq: 0 },
  );
  await store.waitFor(id, { seq: nextSeq - 1 });
}

const pool = new pg.Pool({ connectionString: databaseUrl });
const rows = await drizzle(pool)
  .select({
    title: sessionsView.title,
    model: tokenStatsView.model,
    tokens: tokenStatsView.totalTokens,
  })
  .from(sessionsView)
  .innerJoin(
    tokenStatsView,
    eq(tokenStatsView.sessionId, sessionsView.sessionId),
  )
  .where(eq(sessionsView.sessionId, id));
console.log(rows);
await pool.end();

/* Prints:
[ { title: 'Fix the build', model: 'sonar-large', tokens: 4880 } ]
*/
