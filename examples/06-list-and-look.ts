/**
 * Pages through the list of sessions, sees cheaply what has changed, and looks at one event.
 * Run it while `turnlog start` runs, on the same database:
 *   TURNLOG_DATABASE_URL=postgres://… npx tsx examples/06-list-and-look.ts
 */
import { randomUUID } from "node:crypto";
// In your own project: from "turnlog".
import { createSessionStore } from "../src/index.ts";

await using store = await createSessionStore({
  databaseUrl: process.env["TURNLOG_DATABASE_URL"] ?? "",
});
const cwd = `/srv/${randomUUID()}`;
const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
for (const [at, id] of [first, second, third].entries()) {
  const content = [{ type: "text", text: `Prompt ${at + 1}` }];
  const data = { id: "m1", role: "user", source: { kind: "user" }, content };
  const time = Date.UTC(2026, 0, 1 + at);
  await store.append(
    id,
    [{ type: "user/message", surfaceOp: "append", time, data }],
    { expectedSeq: 0, header: { cwd, createdAt: time } },
  );
  await store.waitFor(id, { seq: 0 });
}
const names = new Map<string, string>([
  [first, "first"],
  [second, "second"],
  [third, "third"],
]);

// The latest human prompt comes first; a page goes on behind the last row of the one before.
let rows = await store.sessions({ cwd, limit: 2 });
while (rows.length > 0) {
  console.log(rows.map(({ sessionId }) => names.get(sessionId)));
  rows = await store.sessions({ cwd, limit: 2, after: rows.at(-1) });
}

// A revision says whether there is anything new, without a look at the log.
const before = await store.revisions([first, second]);
const summary = {
  id: "m2",
  role: "user",
  source: { kind: "user" },
  content: [{ type: "text", text: "Prompt 1, said better" }],
};
await store.append(
  first,
  [
    {
      type: "user/message",
      surfaceOp: { op: "replace", start: 0, end: 0 },
      sourceEventSeqs: [0],
      data: summary,
    },
  ],
  { expectedSeq: 1 },
);
const after = await store.revisions([first, second]);
for (const id of [first, second])
  console.log(names.get(id), before.get(id) === after.get(id) ? "same" : "new");

// An event with its neighbours, and what became of it.
const window = await store.event(first, 0, { after: 5 });
console.log(
  window.event.type,
  window.after.map(({ seq }) => seq),
);
console.log(await store.traceEvent(first, 0));

/* Prints:
[ 'third', 'second' ]
[ 'first' ]
first new
second same
user/message [ 1 ]
{
  replacedBy: 1,
  replacementChain: [ 1 ],
  replacedSeqs: [],
  sourceSeqs: null,
  derivedSeqs: [ 1 ]
}
*/
