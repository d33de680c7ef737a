/**
 * Appends a small turn, meets a conflict, reads the log back, and reads the messages made of it.
 * Run it while `turnlog start` runs, on the same database:
 *   TURNLOG_DATABASE_URL=postgres://… npx tsx examples/01-append-and-read.ts
 */
import { randomUUID } from "node:crypto";
// In your own project: from "turnlog".
import { createSessionStore, WrongExpectedSeqError } from "../src/index.ts";

await using store = await createSessionStore({
  databaseUrl: process.env["TURNLOG_DATABASE_URL"] ?? "",
});
const id = randomUUID();

// 0 means: the session must be new. The result feeds the next append.
const prompt = {
  id: "m1",
  role: "user",
  source: { kind: "user" },
  content: [{ type: "text", text: "Fix the build" }],
};
const { nextSeq } = await store.append(
  id,
  [
    { type: "turn/start", data: { turn: 1 } },
    { type: "step/start", data: { turn: 1, step: 1 } },
    { type: "user/message", data: prompt, surfaceOp: "append" },
  ],
  { expectedSeq: 0, header: { cwd: "/srv/app" } },
);
console.log(`appended up to ${nextSeq}`);

// Somebody who has seen less than the log holds gets a conflict, with the facts as fields.
try {
  await store.append(
    id,
    [{ type: "turn/end", data: { turn: 1, reason: { kind: "completed" } } }],
    { expectedSeq: 2 },
  );
} catch (error) {
  if (!(error instanceof WrongExpectedSeqError)) throw error;
  console.log(
    `${error.code}: expected ${error.expectedSeq}, actual ${error.actualSeq}`,
  );
}

for await (const event of store.read(id, { fromSeq: 1 }))
  console.log(`${event.seq} ${event.type}`);

await store.waitFor(id, { seq: nextSeq - 1, projections: ["messages"] });
const { rows, asOfSeq } = await store.messages(id);
console.log(`${rows[0]?.role}: ${rows[0]?.text} (as of seq ${asOfSeq})`);

/* Prints:
appended up to 3
WRONG_EXPECTED_SEQ: expected 2, actual 3
1 step/start
2 user/message
user: Fix the build (as of seq 2)
*/
