/** What bounds the figures of a scenario, in words: what each costs is in its table. */

const APPEND =
  "One append is one round trip, one statement and one commit, so one fsync that others may share; beside it the doorbell, a statement every 50 ms.";

const BOUNDS: Readonly<Record<string, string>> = {
  "append-1x1": `${APPEND} One writer waits for its answer each time: the bound is the time of a round trip, of which client, server and the fsync take their shares one after the other. A bare commit of one row on the same connection is the control; what is left between is the check against the rules, the append id, the state and the outbox row.`,
  "append-1x16": `${APPEND} Appends that meet share the call, and two calls are on their way at a time: 8 to 16 appends a commit. Then CPU is the bound, of the client and the server together on all cores: the fsync is shared by all appends of a call. Of the server's share a quarter is the session row, a quarter the event, a fifth the outbox row with its two index entries, a tenth the look for the append id. Direct appends pay the whole statement and commit each.`,
  "append-100x1": `${APPEND} For a hundred events the round trip hardly counts. The bound is CPU, half of it on each side: JSON text and UTF-8 on the client's, one heap row and one index entry a stored row on the server's, and compression of rows above 2 kB (docs/decisions/0011).`,
  contended:
    "Appends of one process to one session become chains: one call, one update of the session row, one outbox row and one commit for all that wait, here 15 or 16. One chain is on its way at a time, so the bound is the round trip of a call; plain SQL makes five statements behind the row's lock, and holds it over its fsync.",
  stream: `${APPEND} 500 events are some 12 rows, since deltas are packed into runs. One writer waits for each answer, so client and server take turns: what an event takes is the sum of both CPU columns and the share of a round trip. On the client's side most is to look at each delta and to write its text, on the server's to compress long runs and to commit.`,
  import:
    "CPU of the client: a file is read twice, and to find the lines, parse their JSON and look for numbers that would be lost is most of either reading. The server waits. COPY of ready rows parses, checks and packs nothing: its share says what checking costs.",
  read: "CPU of the client: the server sends some 2,000 rows, which become 100,000 objects. Memory is that of a page.",
  "visible-postgres":
    "The doorbell (5 ms, or the relay's look every 10 ms), one drain, one claim or ring, one transaction of the projector and its commit; at 200 appends a second CPU is not the bound, wake-ups are.",
  scale:
    "An append touches the end of its session's part of each index: four entries of three or four levels. The list must come from an index in its order.",
};

/** Null where nothing is to be said. */
export function boundOf(scenario: string): string | null {
  return (
    BOUNDS[scenario] ??
    BOUNDS[scenario.replace("x32", "x16").replace("100x16", "100x1")] ??
    BOUNDS[scenario.replace("redis", "postgres")] ??
    null
  );
}
