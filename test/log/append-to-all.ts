/** Appends thirty notes to each of the sessions, all at once and each session in order, and ends. */
import { createSessionStore } from "../../src/session-store.ts";

const [databaseUrl = "", name = "", ...ids] = process.argv.slice(2);
await using store = await createSessionStore({ databaseUrl });
await Promise.all(
  ids.flatMap((id) =>
    Array.from({ length: 30 }, (_, at) =>
      store.append(
        id,
        [{ type: "feedback/record", data: { text: `${name} ${at}` } }],
        { expectedSeq: "any", timeoutMs: 60_000 },
      ),
    ),
  ),
);
