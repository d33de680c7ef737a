import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  AppendIdReusedError,
  EventInvalidError,
  StoreClosedError,
  WrongExpectedSeqError,
} from "../../src/errors.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { AppendId, SessionId } from "../../src/events/ids.ts";
import { takeEvents } from "../../src/log/take-events.ts";
import { Coalescer } from "../../src/log/coalescer.ts";
import { EventTypes } from "../../src/log/event-types.ts";
import { StateCache } from "../../src/log/state-cache.ts";
import type { AppendResult } from "../../src/log/append-request.ts";
import { connect } from "../../src/db/connect.ts";
import { storeOver, type SessionStore } from "../../src/session-store.ts";
import { countingDb, type CountingDb } from "../support/counting-db.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes, openStep } from "../support/events.ts";

const database = useTestDatabase();

const ONE = "turnlog_append_v1";
const MANY = "turnlog_append_many_v1";

/** A store whose appends are counted; notifications are not. */
function countedStore(options?: { readonly coalesce: boolean }): {
  readonly store: SessionStore;
  readonly appendStatements: () => readonly string[];
  readonly db: CountingDb;
} {
  const db = countingDb(database().db);
  return {
    db,
    store: storeOver(db, options),
    appendStatements: () =>
      db.statements.filter((name) => name !== "turnlog_notify_outbox"),
  };
}

function newIds(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}

function create(store: SessionStore, id: string): Promise<AppendResult> {
  return store.append(id, notes(1), { expectedSeq: 0 });
}

/** Texts of the notes of a session, in order. */
async function textsOf(store: SessionStore, id: string): Promise<string[]> {
  const events = await collect(store, id);
  return events.map(({ data }) => JSON.stringify(data).slice(9, -2));
}

describe("an append that meets no other", () => {
  it("takes exactly one round trip, also the first one of a session", async () => {
    const { store, appendStatements } = countedStore();
    const id = randomUUID();

    await create(store, id);
    for (let seq = 1; seq < 5; seq += 1)
      await store.append(id, [note()], { expectedSeq: seq });
    await store.append(id, [note()], { expectedSeq: "any" });

    expect(appendStatements()).toEqual(Array.from({ length: 6 }, () => ONE));
  });
});

describe("small appends at the same time", () => {
  it("to many sessions share one statement and one commit", async () => {
    const { store, appendStatements } = countedStore();
    const ids = newIds(40);

    const created = await Promise.all(ids.map((id) => create(store, id)));
    const appended = await Promise.all(
      ids.map((id) => store.append(id, notes(2), { expectedSeq: 1 })),
    );

    expect(appendStatements()).toEqual([MANY, MANY]);
    expect(created).toEqual(
      ids.map(() => ({ firstSeq: 0, nextSeq: 1, deduplicated: false })),
    );
    expect(appended).toEqual(
      ids.map(() => ({ firstSeq: 1, nextSeq: 3, deduplicated: false })),
    );
    for (const id of ids) expect(await collect(store, id)).toHaveLength(3);
  });

  it("of many writers take fewer statements than there are appends", async () => {
    const { store, appendStatements } = countedStore();
    const ids = newIds(16);

    await Promise.all(
      ids.map(async (id) => {
        for (let seq = 0; seq < 10; seq += 1)
          await store.append(id, [note()], { expectedSeq: seq });
      }),
    );

    expect(appendStatements().length).toBeLessThan(160 / 4);
  });

  it("to one session share one statement, in the order of their calls", async () => {
    const { store, appendStatements } = countedStore();
    const id = randomUUID();
    await create(store, id);

    const results = await Promise.all(
      Array.from({ length: 50 }, (_, at) =>
        store.append(id, [note(`call ${at}`)], { expectedSeq: "any" }),
      ),
    );

    expect(appendStatements()).toEqual([ONE, MANY]);
    expect(results.map(({ firstSeq }) => firstSeq)).toEqual(
      Array.from({ length: 50 }, (_, at) => at + 1),
    );
    expect((await textsOf(store, id)).slice(1)).toEqual(
      Array.from({ length: 50 }, (_, at) => `call ${at}`),
    );
  });

  it("may name the seqs that the ones before them leave, from the creation on", async () => {
    const { store, appendStatements } = countedStore();
    const id = randomUUID();

    const results = await Promise.all([
      store.append(id, openStep(), {
        expectedSeq: 0,
        header: { cwd: "/srv" },
        tenant: "two\nlines",
      }),
      store.append(id, notes(3), { expectedSeq: 2 }),
      store.append(id, notes(1), { expectedSeq: "any" }),
      store.append(id, notes(1), { expectedSeq: 6 }),
    ]);

    expect(appendStatements()).toEqual([MANY]);
    expect(results.map(({ firstSeq }) => firstSeq)).toEqual([0, 2, 5, 6]);
    const [row] = await database().db.rows(
      {
        text: "select head, facts_head, tenant from turnlog.sessions where session_id = $1",
      },
      [id],
    );
    expect(row).toEqual({ head: 7, facts_head: 7, tenant: "two\nlines" });
    expect((await store.session(id)).header).toMatchObject({ cwd: "/srv" });
  });

  it("leave one outbox row together", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    await create(store, id);

    await Promise.all(
      [1, 2, 3].map((count) =>
        store.append(id, notes(count), { expectedSeq: "any" }),
      ),
    );

    const rows = await database().db.rows(
      {
        text: "select first_seq, next_seq, facts_next_seq from turnlog.outbox where session_id = $1 order by first_seq",
      },
      [id],
    );
    expect(rows).toEqual(
      [
        [0, 1],
        [1, 7],
      ].map(([first_seq, next_seq]) => ({
        first_seq,
        next_seq,
        facts_next_seq: next_seq,
      })),
    );
  });

  it("are sent one by one where merging is switched off", async () => {
    const { store, appendStatements } = countedStore({ coalesce: false });

    await Promise.all(newIds(8).map((id) => create(store, id)));

    expect(appendStatements()).toEqual(Array.from({ length: 8 }, () => ONE));
  });

  it("do not wait for a large one, which goes by itself", async () => {
    const { store, appendStatements } = countedStore();
    const [large = "", ...small] = newIds(5);

    await Promise.all([
      store.append(large, notes(200), { expectedSeq: 0 }),
      ...small.map((id) => create(store, id)),
    ]);

    expect(appendStatements().toSorted()).toEqual([MANY, ONE]);
  });

  it("may have ids of any text", async () => {
    const { store } = countedStore();
    const ids = ["two\nlines", '"{}, \\', "null", "ünïcödé 😀"].map(
      (id) => `${id} ${randomUUID()}`,
    );

    await Promise.all(ids.map((id) => create(store, id)));
    await Promise.all(
      ids.map((id) => store.append(id, notes(1), { expectedSeq: 1 })),
    );

    for (const id of ids) expect(await collect(store, id)).toHaveLength(2);
  });
});

describe("of the appends to one session that share a call", () => {
  const stepEnd: NewEvent = {
    type: "step/end",
    data: { turn: 9, step: 9, reason: { kind: "completed" } },
  };

  it("a bad one in the middle fails alone, and the others are stored", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    await create(store, id);

    const results = await Promise.allSettled([
      store.append(id, [note("first")], { expectedSeq: "any" }),
      store.append(id, [note("lost"), stepEnd], { expectedSeq: "any" }),
      store.append(id, [note("last")], { expectedSeq: "any" }),
    ]);

    expect(results).toMatchObject([
      { status: "fulfilled", value: { firstSeq: 1 } },
      {
        status: "rejected",
        reason: { code: "EVENT_INVALID", index: 1, seq: 3, type: "step/end" },
      },
      { status: "fulfilled", value: { firstSeq: 2 } },
    ]);
    expect(await textsOf(store, id)).toEqual(["note 0", "first", "last"]);
  });

  it("each is checked against the state that the one before it leaves", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    await create(store, id);
    const turn = { type: "turn/start", data: { turn: 1 } };
    const step = { type: "step/start", data: { turn: 1, step: 1 } };

    const results = await Promise.allSettled([
      store.append(id, [turn], { expectedSeq: "any" }),
      store.append(id, [step], { expectedSeq: "any" }),
      store.append(id, [turn], { expectedSeq: "any" }),
    ]);

    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
    ]);
    expect(results[2]).toMatchObject({ reason: expect.any(EventInvalidError) });
  });

  it("one that expects another seq gets a conflict that names the head it met", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    await create(store, id);

    const results = await Promise.allSettled([
      store.append(id, notes(2), { expectedSeq: 1 }),
      store.append(id, notes(1), { expectedSeq: 1 }),
      store.append(id, notes(1), { expectedSeq: "any" }),
    ]);

    expect(results).toMatchObject([
      { status: "fulfilled" },
      {
        status: "rejected",
        reason: { code: "WRONG_EXPECTED_SEQ", expectedSeq: 1, actualSeq: 3 },
      },
      { status: "fulfilled", value: { firstSeq: 3 } },
    ]);
  });

  it("two of one id are stored once, and a third of other events is refused", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    const appendId = randomUUID();
    await create(store, id);
    const options = { expectedSeq: "any", appendId } as const;

    const results = await Promise.allSettled([
      store.append(id, [note("same")], options),
      store.append(id, [note("same")], options),
      store.append(id, [note("other")], options),
      store.append(id, [note("last")], { expectedSeq: "any" }),
    ]);

    expect(results).toMatchObject([
      { value: { firstSeq: 1, nextSeq: 2, deduplicated: false } },
      { value: { firstSeq: 1, nextSeq: 2, deduplicated: true } },
      { reason: expect.any(AppendIdReusedError) },
      { value: { firstSeq: 2 } },
    ]);
    expect(await textsOf(store, id)).toEqual(["note 0", "same", "last"]);
  });

  it("one that was stored long ago is answered from there, whatever is before and behind it", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    const appendId = randomUUID();
    await create(store, id);
    await store.append(id, [note("old")], { expectedSeq: 1, appendId });

    const results = await Promise.all([
      store.append(id, [note("before")], { expectedSeq: "any" }),
      store.append(id, [note("old")], { expectedSeq: "any", appendId }),
      store.append(id, [note("behind")], { expectedSeq: "any" }),
    ]);

    expect(results).toMatchObject([
      { firstSeq: 2 },
      { firstSeq: 1, nextSeq: 2, deduplicated: true },
      { firstSeq: 3 },
    ]);
  });

  it("none is lost when another process appends in between", async () => {
    const { store } = countedStore();
    const other = storeOver(database().db);
    const id = randomUUID();
    await create(store, id);
    await other.append(id, [note("other")], { expectedSeq: 1 });

    const results = await Promise.allSettled([
      store.append(id, [note("stale")], { expectedSeq: 1 }),
      store.append(id, [note("a")], { expectedSeq: "any" }),
      store.append(id, [note("b")], { expectedSeq: "any" }),
    ]);

    expect(results).toMatchObject([
      { reason: expect.any(WrongExpectedSeqError) },
      { value: { firstSeq: 2 } },
      { value: { firstSeq: 3 } },
    ]);
    expect(await textsOf(store, id)).toEqual(["note 0", "other", "a", "b"]);
  });
});

describe("a session that somebody has locked", () => {
  it("is busy by itself, and the others of its call are stored", async () => {
    const { store } = countedStore();
    const [locked = "", ...free] = newIds(6);
    await Promise.all([locked, ...free].map((id) => create(store, id)));

    const waiting = await database().db.transaction(async (tx) => {
      await tx.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [locked],
      );
      const [held, ...others] = [locked, ...free].map((id) =>
        store.append(id, notes(1), { expectedSeq: 1 }),
      );
      await Promise.all(others);
      for (const id of free)
        await store.append(id, notes(1), { expectedSeq: 2 });
      return { held };
    });

    expect(await waiting.held).toMatchObject({ firstSeq: 1 });
  });

  it("is told to be busy at the deadline, when nothing can have been stored", async () => {
    const { store } = countedStore();
    const id = randomUUID();
    await create(store, id);

    await database().db.transaction(async (tx) => {
      await tx.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [id],
      );
      const appends = [1, 2].map(() =>
        store.append(id, notes(1), { expectedSeq: "any", timeoutMs: 400 }),
      );
      for (const append of appends)
        await expect(append).rejects.toMatchObject({ code: "SESSION_BUSY" });
    });

    expect(await store.append(id, notes(1), { expectedSeq: 1 })).toMatchObject({
      firstSeq: 1,
    });
  });

  it("does not keep others waiting, however many there are", async () => {
    const db = connect({
      databaseUrl: database().url,
      poolSize: 4,
      applicationName: "turnlog-test-small-pool",
      preparedStatements: true,
    });
    await using store = storeOver(db);
    const locked = newIds(8);
    const free = randomUUID();
    await Promise.all([free, ...locked].map((id) => create(store, id)));

    const held = await database().db.transaction(async (tx) => {
      await tx.rows(
        {
          text: "select from turnlog.sessions where session_id = any($1) for update",
        },
        [locked],
      );
      const waiting = locked.map((id) =>
        store.append(id, notes(1), { expectedSeq: 1 }),
      );
      for (let seq = 1; seq < 10; seq += 1)
        await store.append(free, notes(1), { expectedSeq: seq });
      return { waiting };
    });

    expect(await Promise.all(held.waiting)).toHaveLength(8);
  });
});

describe("a session that somebody is just creating", () => {
  it("ends in a conflict once it is there, and the others of the call are stored before", async () => {
    const { store } = countedStore();
    const [raced = "", ...free] = newIds(4);

    const waiting = await database().db.transaction(async (tx) => {
      await tx.rows(
        {
          text: `
            insert into turnlog.sessions (session_id, incarnation, head, facts_head, rules_version, state, header)
            values ($1, gen_random_uuid(), 1, 1, 1, '{}', '{}')`,
        },
        [raced],
      );
      const held = create(store, raced);
      held.catch(() => undefined);
      await Promise.all(free.map((id) => create(store, id)));
      return { held };
    });

    await expect(waiting.held).rejects.toMatchObject({
      code: "WRONG_EXPECTED_SEQ",
      actualSeq: 1,
    });
  });
});

describe("sessions of different routes", () => {
  it("share no call", async () => {
    const { db, appendStatements } = countedStore();
    const context = { db, types: new EventTypes(db), states: new StateCache() };
    const coalescer = new Coalescer(context, (id) => id.slice(0, 1));
    const ids = ["a", "b", "a", "b", "a"].map(
      (route) => `${route} ${randomUUID()}`,
    );

    await Promise.all(
      ids.map((id) =>
        coalescer.append({
          sessionId: SessionId(id),
          appendId: AppendId(undefined),
          items: takeEvents(notes(1), 0),
          expectedSeq: 0,
          header: {},
          tenant: null,
          recreate: false,
          allowFindings: false,
          now: 0,
          timeoutMs: 10_000,
          limits: { maxEventCharacters: 1e6, maxAppendCharacters: 1e6 },
        }),
      ),
    );

    expect(appendStatements()).toEqual([MANY, MANY]);
    for (const id of ids)
      expect(await collect(database().store, id)).toHaveLength(1);
  });
});

describe("a store that is closed", () => {
  it("has stored what was in hand, and takes nothing more", async () => {
    const db = connect({
      databaseUrl: database().url,
      poolSize: 3,
      applicationName: "turnlog-test-closing",
      preparedStatements: true,
    });
    const store = storeOver(db);
    const ids = newIds(20);
    const appends = ids.map((id) => create(store, id));

    const closing = Promise.all([store.close(), store.close()]);

    await expect(create(store, randomUUID())).rejects.toBeInstanceOf(
      StoreClosedError,
    );
    await closing;
    expect(await Promise.all(appends)).toHaveLength(20);
    for (const id of ids)
      expect(await collect(database().store, id)).toHaveLength(1);
  });
});
