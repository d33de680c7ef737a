/** Opens a session, taking it over, and streams into it until it is killed; says after each flush what it has stored. */
import { createSessionStore } from "../../src/session-store.ts";

const [databaseUrl = "", id = ""] = process.argv.slice(2);
const store = await createSessionStore({ databaseUrl });
const writer = await store.open(id, { takeOver: true });
const turn = await nextTurn();
await writer.write("turn/start", { turn });
await writer.write("step/start", { turn, step: 1 });
for (;;) {
  const text = `by ${process.pid}`;
  const chunk = { type: "text-delta", index: 0, text };
  try {
    await writer.write("assistant/chunk", { turn, step: 1, chunk });
    if (writer.nextSeq % 10 === 0) await writer.flush();
    process.stdout.write(`stored ${writer.storedSeq}\n`);
  } catch (error) {
    const code =
      error instanceof Error && "code" in error ? String(error.code) : "none";
    process.stdout.write(`ended ${code}\n`);
    process.exit(0);
  }
}

/** Opening has closed the turn before. */
async function nextTurn(): Promise<number> {
  let turns = 0;
  for await (const event of store.read(id))
    if (event.type === "turn/start") turns += 1;
  return turns + 1;
}
