/**
 * Streams an answer, dies in the middle of a tool call, and goes on.
 *   TURNLOG_DATABASE_URL=postgres://… npx tsx examples/04-stream.ts
 */
import { randomUUID } from "node:crypto";
// In your own project: from "turnlog".
import { createSessionStore, WriterFencedError } from "../src/index.ts";

await using store = await createSessionStore({
  databaseUrl: process.env["TURNLOG_DATABASE_URL"] ?? "",
});
const id = randomUUID();
const place = { turn: 1, step: 1 };
const tool = { callId: "call-1", name: "deploy", arguments: "{}" };

await using writer = await store.create(id);
await writer.write("turn/start", { turn: 1 });
await writer.write("step/start", place);
const chunks: number[] = [];
for (const text of ["Dep", "loy", "ing."]) {
  const chunk = { type: "text-delta", index: 0, text };
  chunks.push(await writer.write("assistant/chunk", { ...place, chunk }));
}
const { callId, ...rest } = tool;
const message = {
  id: randomUUID(),
  role: "assistant",
  source: { kind: "model", provider: "example-ai", model: "sonar-large" },
  content: [
    { type: "text", text: "Deploying." },
    { type: "tool-call", id: callId, ...rest },
  ],
};
await writer.write(
  "assistant/message",
  { ...place, message },
  { surfaceOp: "append", sourceEventSeqs: chunks },
);
await writer.write("tool/call", { ...place, ...tool });
// The call is stored before the tool runs, so that no later process believes it never ran.
await writer.flush();
console.log(`stored up to seq ${writer.storedSeq - 1}`);

// Another process takes over, as after a crash of this one. It closes the turn.
await using next = await store.open(id, { takeOver: true });
for await (const event of store.read(id, { fromSeq: writer.storedSeq }))
  console.log(event.seq, event.type);

// The first one is still there, and can do no harm.
try {
  await writer.append([{ type: "step/end", data: place }]);
} catch (error) {
  if (!(error instanceof WriterFencedError)) throw error;
  console.log(`${error.code}: the writer's epoch is now ${error.epoch}`);
}
await next.write("turn/start", { turn: 2 });

/* Prints:
stored up to seq 6
7 tool/result
8 step/end
9 turn/end
10 session/end-seed
WRITER_FENCED: the writer's epoch is now 1
*/
