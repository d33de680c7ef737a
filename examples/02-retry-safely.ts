/**
 * Sends an append twice, as a service does that never learned what became of the first time.
 *   TURNLOG_DATABASE_URL=postgres://… npx tsx examples/02-retry-safely.ts
 */
import { randomUUID } from "node:crypto";
// In your own project: from "turnlog".
import { AppendIdReusedError, createSessionStore } from "../src/index.ts";

await using store = await createSessionStore({
  databaseUrl: process.env["TURNLOG_DATABASE_URL"] ?? "",
});
const id = randomUUID();

// Keep the append id with the work it belongs to: in the job, in the request, in your own table.
const appendId = randomUUID();
const events = [
  { type: "feedback/record", data: { text: "The answer was right." } },
];

const first = await store.append(id, events, { expectedSeq: 0, appendId });
const again = await store.append(id, events, { expectedSeq: 0, appendId });
console.log(
  `first: ${first.firstSeq} to ${first.nextSeq}, deduplicated ${first.deduplicated}`,
);
console.log(
  `again: ${again.firstSeq} to ${again.nextSeq}, deduplicated ${again.deduplicated}`,
);

// The same id for something else is a mistake, and is told so.
const other = [
  { type: "feedback/record", data: { text: "The answer was wrong." } },
];
try {
  await store.append(id, other, { expectedSeq: 0, appendId });
} catch (error) {
  if (!(error instanceof AppendIdReusedError)) throw error;
  console.log(`${error.code} at seq ${error.firstSeq}`);
}
console.log(`the log holds ${(await store.session(id)).head} event`);

/* Prints:
first: 0 to 1, deduplicated false
again: 0 to 1, deduplicated true
APPEND_ID_REUSED at seq 0
the log holds 1 event
*/
