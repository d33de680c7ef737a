import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  ProjectionUnknownError,
  SessionNotFoundError,
  WaitTimeoutError,
} from "../../src/errors.ts";
import { useTestDatabase } from "../support/database.ts";
import { deltas, notes, prompt, openStep } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";

const database = useTestDatabase();

describe("waitFor", () => {
  it("resolves when the event is in the tables, and then they have it", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const { nextSeq } = await store.append(id, [prompt("Hello", 7)], {
      expectedSeq: 0,
    });
    const waiting = store.waitFor(id, { seq: nextSeq - 1 });
    await catchUp(db);
    await waiting;

    const { rows, asOfSeq } = await store.messages(id);
    expect(rows.map(({ text }) => text)).toEqual(["Hello"]);
    expect(asOfSeq).toBe(0);
    expect(await store.sessions()).toMatchObject([
      { sessionId: id, lastPromptMs: 7, head: 1 },
    ]);
  });

  it("waits for the last fact where only deltas follow", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await store.append(id, deltas(["a", "b", "c"]), { expectedSeq: 2 });
    await catchUp(db);

    await store.waitFor(id, { seq: 4, timeoutMs: 0 });

    expect((await store.messages(id)).asOfSeq).toBe(1);
  });

  it("tells which projections are behind when time runs out", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    const waiting = store.waitFor(id, {
      seq: 0,
      projections: ["usage", "titles"],
      timeoutMs: 30,
    });

    await expect(waiting).rejects.toBeInstanceOf(WaitTimeoutError);
    await expect(waiting).rejects.toMatchObject({
      behind: ["titles", "usage"],
      retryable: true,
    });
  });

  it("refuses a projection that is not there, and a session that is not", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    await expect(
      store.waitFor(id, { seq: 0, projections: ["nope"] }),
    ).rejects.toBeInstanceOf(ProjectionUnknownError);
    await expect(
      store.waitFor(randomUUID(), { seq: 0 }),
    ).rejects.toBeInstanceOf(SessionNotFoundError);
  });
});

describe("reads of the views", () => {
  it("give pages of messages after a key", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(
      id,
      ["a", "b", "c", "d"].map((text) => prompt(text)),
      { expectedSeq: 0 },
    );
    await catchUp(db);

    const first = await store.messages(id, { limit: 2 });
    const second = await store.messages(id, {
      limit: 2,
      after: first.rows.at(-1)?.orderKey ?? 0,
    });

    expect([...first.rows, ...second.rows].map(({ text }) => text)).toEqual([
      "a",
      "b",
      "c",
      "d",
    ]);
  });

  it("give nothing, as of -1, for a session that is not folded yet", async () => {
    const { store } = database();

    expect(await store.messages(randomUUID())).toEqual({
      rows: [],
      asOfSeq: -1,
    });
    expect(await store.usage(randomUUID())).toEqual({ rows: [], asOfSeq: -1 });
    expect(await store.titles(randomUUID())).toEqual({ rows: [], asOfSeq: -1 });
  });
});
