import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  AppendIdReusedError,
  EventInvalidError,
  SessionDeletedError,
  SessionNotFoundError,
  WrongExpectedSeqError,
} from "../../src/errors.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes, prompt } from "../support/events.ts";

const database = useTestDatabase();

describe("append", () => {
  it("gives the events the seqs from the expected one on", async () => {
    const { store } = database();
    const id = randomUUID();

    const first = await store.append(id, notes(3), { expectedSeq: 0 });
    const second = await store.append(id, notes(2), {
      expectedSeq: first.nextSeq,
    });

    expect(first).toEqual({ firstSeq: 0, nextSeq: 3, deduplicated: false });
    expect(second).toEqual({ firstSeq: 3, nextSeq: 5, deduplicated: false });
    expect((await collect(store, id)).map(({ seq }) => seq)).toEqual([
      0, 1, 2, 3, 4,
    ]);
  });

  it("rejects a stale expected seq and reports the actual one", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(3), { expectedSeq: 0 });

    const conflict = store.append(id, notes(1), { expectedSeq: 2 });

    await expect(conflict).rejects.toBeInstanceOf(WrongExpectedSeqError);
    await expect(conflict).rejects.toMatchObject({
      sessionId: id,
      expectedSeq: 2,
      actualSeq: 3,
      retryable: false,
    });
  });

  it("rejects an expected seq in the future", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    await expect(
      store.append(id, notes(1), { expectedSeq: 7 }),
    ).rejects.toMatchObject({ actualSeq: 1 });
  });

  it("does not create a session twice", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(2), { expectedSeq: 0 });

    await expect(
      store.append(id, notes(1), { expectedSeq: 0 }),
    ).rejects.toMatchObject({
      code: "WRONG_EXPECTED_SEQ",
      actualSeq: 2,
    });
  });

  it("does not append to a session that does not exist", async () => {
    const { store } = database();

    await expect(
      store.append(randomUUID(), notes(1), { expectedSeq: 4 }),
    ).rejects.toBeInstanceOf(SessionNotFoundError);
  });

  it("appends at the end, wherever that is, when any seq will do", async () => {
    const { store } = database();
    const id = randomUUID();

    const first = await store.append(id, notes(2), { expectedSeq: "any" });
    const second = await store.append(id, notes(1), { expectedSeq: "any" });

    expect([first.firstSeq, second.firstSeq]).toEqual([0, 2]);
  });

  it("stores nothing of a batch with one bad event, and the next append works (B076)", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    const batch: NewEvent[] = [
      note(),
      { type: "user/message", data: {}, surfaceOp: "append" },
      note(),
    ];

    const refused = store.append(id, batch, { expectedSeq: 1 });

    await expect(refused).rejects.toBeInstanceOf(EventInvalidError);
    await expect(refused).rejects.toMatchObject({
      index: 1,
      seq: 2,
      type: "user/message",
      rule: "message-shape",
    });
    expect((await store.session(id)).head).toBe(1);
    expect((await store.append(id, notes(1), { expectedSeq: 1 })).nextSeq).toBe(
      2,
    );
  });

  it("does nothing for an empty batch and creates no session", async () => {
    const { store } = database();
    const id = randomUUID();

    expect(await store.append(id, [], { expectedSeq: 0 })).toEqual({
      firstSeq: 0,
      nextSeq: 0,
      deduplicated: false,
    });
    await expect(store.session(id)).rejects.toBeInstanceOf(
      SessionNotFoundError,
    );
  });

  it("is not affected by what the caller does to the events afterwards", async () => {
    const { store } = database();
    const id = randomUUID();
    const event = { type: "feedback/record", data: { text: "as sent" } };
    const pending = store.append(id, [event], { expectedSeq: 0 });
    event.data.text = "changed";
    await pending;

    expect((await collect(store, id))[0]?.data).toEqual({ text: "as sent" });
  });

  it("stamps all events of a batch with one time, and keeps times that are given (B078, B080)", async () => {
    const { store } = database();
    const id = randomUUID();
    const before = Date.now();

    await store.append(id, [note(), { ...note(), time: -5 }, note()], {
      expectedSeq: 0,
    });

    const times = (await collect(store, id)).map(({ time }) => time);
    expect(times[0]).toBe(times[2]);
    expect(times[0]).toBeGreaterThanOrEqual(before);
    expect(times[1]).toBe(-5);
  });

  it("keeps the header of the first append and ignores later ones", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), {
      expectedSeq: 0,
      header: { cwd: "/srv/app", createdAt: 17 },
    });
    await store.append(id, notes(1), {
      expectedSeq: 1,
      header: { cwd: "/elsewhere" },
    });

    expect((await store.session(id)).header).toEqual({
      version: 0,
      id,
      createdAt: 17,
      cwd: "/srv/app",
      delegationDepth: 0,
    });
  });

  it("refuses a header that could not be opened again", async () => {
    const { store } = database();

    await expect(
      store.append(randomUUID(), notes(1), {
        expectedSeq: 0,
        header: { cwd: "not/absolute" },
      }),
    ).rejects.toMatchObject({ code: "EVENT_INVALID", path: "header.cwd" });
  });

  it.each([
    ["empty", ""],
    ["with NUL", "a\0b"],
    ["with a lone surrogate", "a\ud800"],
    ["too long", "x".repeat(1_025)],
  ])("refuses a session id that is %s", async (_what, id) => {
    const { store } = database();

    await expect(
      store.append(id, notes(1), { expectedSeq: 0 }),
    ).rejects.toMatchObject({ rule: "session-id" });
  });

  it("refuses an expected seq that is none", async () => {
    const { store } = database();

    await expect(
      store.append(randomUUID(), notes(1), { expectedSeq: -1 }),
    ).rejects.toMatchObject({
      path: "expectedSeq",
    });
    await expect(
      store.append(randomUUID(), notes(1), { expectedSeq: 0.5 }),
    ).rejects.toMatchObject({
      path: "expectedSeq",
    });
  });

  it("refuses to write into a deleted session unless it is to be made anew", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(2), { expectedSeq: 0 });
    await db.rows(
      {
        text: "update turnlog.sessions set deleted_at = now() where session_id = $1",
      },
      [id],
    );

    await expect(
      store.append(id, notes(1), { expectedSeq: 2 }),
    ).rejects.toBeInstanceOf(SessionDeletedError);
    await expect(
      store.append(id, notes(1), { expectedSeq: 0 }),
    ).rejects.toBeInstanceOf(SessionDeletedError);
    await expect(store.session(id)).rejects.toBeInstanceOf(SessionDeletedError);
  });
});

describe("append id", () => {
  it("stores the same append once and gives back the first result (B087)", async () => {
    const { store } = database();
    const id = randomUUID();
    const appendId = randomUUID();
    const events = [prompt("Hello", 5), note()];
    await store.append(id, events, { expectedSeq: 0, appendId });
    await store.append(id, notes(3), { expectedSeq: 2 });

    const again = await store.append(id, events, { expectedSeq: 0, appendId });

    expect(again).toEqual({ firstSeq: 0, nextSeq: 2, deduplicated: true });
    expect((await store.session(id)).head).toBe(5);
  });

  it("gives back the first result when any seq will do", async () => {
    const { store } = database();
    const id = randomUUID();
    const appendId = randomUUID();
    await store.append(id, notes(2), { expectedSeq: "any" });
    await store.append(id, [note("once")], { expectedSeq: "any", appendId });
    await store.append(id, notes(2), { expectedSeq: "any" });

    const again = await store.append(id, [note("once")], {
      expectedSeq: "any",
      appendId,
    });

    expect(again).toEqual({ firstSeq: 2, nextSeq: 3, deduplicated: true });
  });

  it("refuses the id for other events (B087)", async () => {
    const { store } = database();
    const id = randomUUID();
    const appendId = randomUUID();
    await store.append(id, [note("one")], { expectedSeq: 0, appendId });

    const reused = store.append(id, [note("onf")], {
      expectedSeq: 0,
      appendId,
    });

    await expect(reused).rejects.toBeInstanceOf(AppendIdReusedError);
    await expect(reused).rejects.toMatchObject({
      sessionId: id,
      appendId,
      firstSeq: 0,
    });
  });

  it("refuses the id for other events at the head", async () => {
    const { store } = database();
    const id = randomUUID();
    const appendId = randomUUID();
    await store.append(id, [note("one")], { expectedSeq: 0, appendId });

    await expect(
      store.append(id, [note("two")], { expectedSeq: 1, appendId }),
    ).rejects.toBeInstanceOf(AppendIdReusedError);
    expect((await store.session(id)).head).toBe(1);
  });

  it("takes the same events with their keys in another order as the same append (B010)", async () => {
    const { store } = database();
    const id = randomUUID();
    const appendId = randomUUID();
    const data = { text: "a", meta: { x: 1, y: [{ b: 1, a: 2 }] } };
    const shuffled = { meta: { y: [{ a: 2, b: 1 }], x: 1 }, text: "a" };
    await store.append(id, [{ type: "feedback/record", data }], {
      expectedSeq: 0,
      appendId,
    });

    const again = await store.append(
      id,
      [{ data: shuffled, type: "feedback/record" }],
      { expectedSeq: 0, appendId },
    );
    const [stored] = await collect(store, id);
    const readBack = await store.append(id, [stored ?? note()], {
      expectedSeq: 0,
      appendId,
    });

    expect([again.deduplicated, readBack.deduplicated]).toEqual([true, true]);
  });

  it("takes another writer's identical content for a conflict", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, [note("same")], { expectedSeq: 0 });

    await expect(
      store.append(id, [note("same")], { expectedSeq: 0 }),
    ).rejects.toBeInstanceOf(WrongExpectedSeqError);
  });

  it("is one session's own: another session may use it", async () => {
    const { store } = database();
    const appendId = randomUUID();

    const results = await Promise.all(
      [randomUUID(), randomUUID()].map((id) =>
        store.append(id, notes(1), { expectedSeq: 0, appendId }),
      ),
    );

    expect(results.map(({ deduplicated }) => deduplicated)).toEqual([
      false,
      false,
    ]);
  });

  it("refuses an id that is no UUID", async () => {
    const { store } = database();

    await expect(
      store.append(randomUUID(), notes(1), {
        expectedSeq: 0,
        appendId: "mine",
      }),
    ).rejects.toMatchObject({ rule: "append-id" });
  });
});

describe("the log", () => {
  it("can't be changed or emptied, not even by hand", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    for (const text of [
      "update turnlog.events set payload = 'null'",
      "delete from turnlog.events",
      "truncate turnlog.events",
    ])
      await expect(db.rows({ text })).rejects.toThrow("append-only");
  });

  it("refuses an append of a client that knows older rules than the state was written under", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await db.rows(
      {
        text: "update turnlog.sessions set rules_version = 99 where session_id = $1",
      },
      [id],
    );

    await expect(
      store.append(id, notes(1), { expectedSeq: 1 }),
    ).rejects.toMatchObject({ code: "RULES_OUTDATED" });
  });
});
