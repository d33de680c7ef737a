import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionNotFoundError } from "../../src/errors.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { SessionId } from "../../src/events/ids.ts";
import { stringifyJson } from "../../src/events/stringify-json.ts";
import { readPage } from "../../src/log/read.ts";
import { useTestDatabase } from "../support/database.ts";
import {
  anything,
  collect,
  deltas,
  note,
  notes,
  prompt,
  openStep,
} from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();

/** An assistant message without content, with or without sources. */
function message(sourceEventSeqs?: number[]): NewEvent {
  const data = {
    turn: 1,
    step: 1,
    message: {
      id: "m",
      role: "assistant",
      content: [],
      source: { kind: "model", provider: "p", model: "x" },
    },
  };
  const event = {
    type: "assistant/message",
    data,
    surfaceOp: "append",
  } as const;
  return sourceEventSeqs === undefined ? event : { ...event, sourceEventSeqs };
}

describe("read", () => {
  it("fails for a session that does not exist", async () => {
    await expect(
      collect(database().store, randomUUID()),
    ).rejects.toBeInstanceOf(SessionNotFoundError);
  });

  it("starts at any seq, in the middle of a packed run too", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(
      id,
      [...openStep(), ...deltas("abcdefgh".split("")), note()],
      { expectedSeq: 0 },
    );
    const all = await collect(store, id);

    for (let fromSeq = 0; fromSeq <= 11; fromSeq += 1)
      expect(await collect(store, id, fromSeq)).toEqual(all.slice(fromSeq));
  });

  it("stores a run of deltas as one row and gives every delta back", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await store.append(id, deltas("abcdefgh".split("")), { expectedSeq: 2 });

    const rows = await db.rows(
      {
        text: "select type, event_count from turnlog.events where session_id = $1 and seq >= 2",
      },
      [id],
    );

    expect(rows).toEqual([{ type: "text-chunks", event_count: 8 }]);
    expect((await collect(store, id)).map(({ seq }) => seq)).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });

  it("never packs over the border of two appends", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await store.append(id, deltas(["a", "b", "c"]), { expectedSeq: 2 });
    await store.append(id, deltas(["d", "e", "f"]), { expectedSeq: 5 });

    const rows = await db.rows(
      {
        text: "select seq from turnlog.events where session_id = $1 order by seq",
      },
      [id],
    );

    expect(rows).toEqual([{ seq: 0 }, { seq: 1 }, { seq: 2 }, { seq: 5 }]);
  });

  it("stops before toSeq, and ends at the head as it was when the reading began", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(5), { expectedSeq: 0 });
    const reading = store.read(id)[Symbol.asyncIterator]();
    await reading.next();
    await store.append(id, notes(5), { expectedSeq: 5 });
    let seen = 1;
    while ((await reading.next()).done !== true) seen += 1;

    const range = [];
    for await (const { seq } of store.read(id, { fromSeq: 2, toSeq: 4 }))
      range.push(seq);

    expect(seen).toBe(5);
    expect(range).toEqual([2, 3]);
  });

  it("gives nothing for a seq beyond the end", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(2), { expectedSeq: 0 });

    expect(await collect(store, id, 2)).toEqual([]);
    expect(await collect(store, id, 900)).toEqual([]);
  });

  it("orders by seq, whatever the times say (B080)", async () => {
    const { store } = database();
    const id = randomUUID();
    const events = [5, 5, -3, 9_000_000_000_000_000, 0, 5].map((time) => ({
      ...note(`at ${time}`),
      time,
    }));
    await store.append(id, events, { expectedSeq: 0 });

    expect((await collect(store, id)).map(({ time }) => time)).toEqual(
      events.map(({ time }) => time),
    );
  });

  it("reads a log of many pages in order", async () => {
    const { store } = database();
    const id = randomUUID();
    for (let seq = 0; seq < 5_000; seq += 1_000)
      await store.append(id, notes(1_000), { expectedSeq: seq });

    expect((await collect(store, id)).map(({ seq }) => seq)).toEqual(
      Array.from({ length: 5_000 }, (_, seq) => seq),
    );
  });

  it("holds a page of a few megabytes however large the events are (B014)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const large = note("x".repeat(3_000_000));
    for (let seq = 0; seq < 12; seq += 1)
      await store.append(id, [large], { expectedSeq: seq });

    const page = await readPage(db, {
      sessionId: SessionId(id),
      fromSeq: 0,
      toSeq: 12,
      types: null,
    });

    expect(page).toHaveLength(2);
    expect(await collect(store, id)).toHaveLength(12);
  });

  it("gives back what Postgres text or jsonb could not hold (B001, B003, B006, B009, B012)", async () => {
    const { store } = database();
    const id = randomUUID();
    let deep: unknown = 1;
    for (let level = 0; level < 4_900; level += 1) deep = [deep];
    const data = {
      nul: "a\0b",
      literal: "a\\u0000b",
      lone: "\ud83d and \udc00",
      keys: { a: 1, "a\0": 2, b: 3, "10": 4, "9": 5 },
      numbers: [
        1e21, 0.1, 1, 5e-324, 1.7976931348623157e308,
        12_345_678_901_234_567_000, -7,
      ],
      proto: JSON.parse('{"__proto__":{"x":1},"constructor":2}'),
      deep,
    };
    await store.append(id, [anything(data)], {
      expectedSeq: 0,
    });

    const [event] = await collect(store, id);

    expect(stringifyJson(event?.data ?? null)).toBe(stringifyJson(data));
  });

  it("keeps the difference between no sources and an empty list, and their order", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(
      id,
      [prompt("a"), ...openStep(), message(), message([]), message([2, 0, 1])],
      { expectedSeq: 0 },
    );

    const sources = (await collect(store, id))
      .slice(3)
      .map((event) => event.sourceEventSeqs);

    expect(sources).toEqual([undefined, [], [2, 0, 1]]);
  });

  it("gives back every event's JSON byte for byte, however the log was cut into appends", async () => {
    const { store } = database();
    await fc.assert(
      fc.asyncProperty(
        legalLog(),
        fc.integer({ min: 1, max: 40 }),
        async ({ header, events }, batch) => {
          const id = randomUUID();
          for (let seq = 0; seq < events.length; seq += batch)
            await store.append(id, events.slice(seq, seq + batch), {
              expectedSeq: seq,
              header: { createdAt: header.createdAt },
            });

          const back = events.length === 0 ? [] : await collect(store, id);

          expect(back.map((event) => JSON.stringify(event))).toEqual(
            events.map((event) => JSON.stringify(event)),
          );
        },
      ),
      { numRuns: runs(40) },
    );
  });
});
