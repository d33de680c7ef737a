import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NewEvent } from "../../src/events/event.ts";
import { CALLERS, type Caller } from "../support/caller-transactions.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes, prompt } from "../support/events.ts";

const database = useTestDatabase();

beforeAll(async () => {
  await database().db.rows({ text: "create table runs (id text primary key)" });
});

async function hasRun(id: string): Promise<boolean> {
  const rows = await database().db.rows(
    { text: "select from runs where id = $1" },
    [id],
  );
  return rows.length === 1;
}

function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: { code: string }) => error.code,
  );
}

/** Ends the backends that wait for a lock in an append, and says how many those were. */
async function terminateWaiting(): Promise<number> {
  const rows = await database().db.rows({
    text: `
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%append_v1%'`,
  });
  return rows.length;
}

/** The session's texts. */
async function storedTexts(id: string): Promise<unknown[]> {
  return (await collect(database().store, id)).map(({ data }) => data);
}

const dataOf = (event: NewEvent): unknown => event.data;

describe.each(Object.keys(CALLERS))("in a transaction of %s", (driver) => {
  let caller: Caller | undefined;
  const transaction: Caller["transaction"] = (work, options) => {
    if (caller === undefined) throw new Error("there once the tests run");
    return caller.transaction(work, options);
  };
  beforeAll(() => {
    caller = CALLERS[driver]?.(database().url);
  });
  afterAll(() => caller?.[Symbol.asyncDispose]());

  it("an append is stored by the caller's commit, with the caller's row", async () => {
    const { store } = database();
    const id = randomUUID();

    const result = await transaction(async ({ tx, insertRun }) => {
      await insertRun(id);
      const appended = await store.append(id, notes(3), {
        expectedSeq: 0,
        header: { cwd: "/srv" },
        tx,
      });
      await expect(store.session(id)).rejects.toMatchObject({
        code: "SESSION_NOT_FOUND",
      });
      return appended;
    });

    expect(result).toEqual({ firstSeq: 0, nextSeq: 3, deduplicated: false });
    expect(await storedTexts(id)).toEqual(notes(3).map(dataOf));
    expect(await hasRun(id)).toBe(true);
    const [outbox] = await database().db.rows(
      { text: "select next_seq from turnlog.outbox where session_id = $1" },
      [id],
    );
    expect(outbox).toEqual({ next_seq: 3 });
  });

  it("a roll-back leaves nothing, and what the store remembers is right afterwards", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, [note("before")], { expectedSeq: 0 });

    const failing = transaction(async ({ tx, insertRun }) => {
      await insertRun(id);
      await store.append(id, [{ type: "turn/start", data: { turn: 1 } }], {
        expectedSeq: 1,
        tx,
      });
      throw new Error("the caller's own");
    });

    await expect(failing).rejects.toThrow("the caller's own");
    expect(await hasRun(id)).toBe(false);
    await store.append(id, [{ type: "turn/start", data: { turn: 1 } }], {
      expectedSeq: 1,
    });
    expect(await collect(store, id)).toHaveLength(2);
    expect((await store.check(id)).findings).toEqual([]);
  });

  it("several appends see each other, to a given seq and to any", async () => {
    const { store } = database();
    const id = randomUUID();

    await transaction(async ({ tx }) => {
      await store.append(id, [prompt("a")], { expectedSeq: "any", tx });
      await store.append(id, [prompt("b")], { expectedSeq: 1, tx });
      await store.append(
        id,
        [
          {
            ...prompt("c"),
            sourceEventSeqs: [0, 1],
            surfaceOp: { op: "replace", start: 0, end: 1 },
          },
        ],
        { expectedSeq: "any", tx },
      );
    });

    const derived = await store.messagesAt(id, 2);
    expect(derived.map(({ seq }) => seq)).toEqual([2]);
    await store.append(id, notes(1), { expectedSeq: 3 });
  });

  it("an append to any seq goes behind that of another which creates the session", async () => {
    const { store, db } = database();
    const id = randomUUID();
    const append = (text: string) =>
      transaction(({ tx }) =>
        store.append(id, [note(text)], { expectedSeq: "any", tx }),
      );

    const second = await transaction(async ({ tx }) => {
      await store.append(id, [note("first")], { expectedSeq: "any", tx });
      const going = append("second");
      await expect
        .poll(() =>
          db.rows({
            text: `
              select
              from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock' and query like '%append_v1%'`,
          }),
        )
        .toHaveLength(1);
      return { going };
    });

    expect(await second.going).toMatchObject({ firstSeq: 1, nextSeq: 2 });
    expect(await storedTexts(id)).toEqual([
      { text: "first" },
      { text: "second" },
    ]);
  });

  it("a conflict, a refused event and a repetition are answered, and the transaction goes on", async () => {
    const { store } = database();
    const [id, appendId] = [randomUUID(), randomUUID()];
    await store.append(id, notes(2), { expectedSeq: 0, appendId });

    const answers = await transaction(async ({ tx, insertRun }) => {
      const append = (
        events: readonly NewEvent[],
        options: { expectedSeq: number | "any"; appendId?: string },
      ) => store.append(id, events, { ...options, tx });
      const codes = [
        await codeOf(append(notes(1), { expectedSeq: 1 })),
        await codeOf(append(notes(1), { expectedSeq: 0 })),
        await codeOf(
          append([{ type: "step/start", data: { turn: 1, step: 1 } }], {
            expectedSeq: 2,
          }),
        ),
        await codeOf(append(notes(1), { expectedSeq: 2, appendId })),
        await codeOf(append(notes(2), { expectedSeq: 2, appendId })),
        await codeOf(append(notes(2), { expectedSeq: "any", appendId })),
      ];
      await append([note("after")], { expectedSeq: 2 });
      await insertRun(id);
      return codes;
    });

    expect(answers).toEqual([
      "WRONG_EXPECTED_SEQ",
      "WRONG_EXPECTED_SEQ",
      "EVENT_INVALID",
      "APPEND_ID_REUSED",
      "none",
      "none",
    ]);
    expect(await storedTexts(id)).toEqual(
      [...notes(2), note("after")].map(dataOf),
    );
    expect(await hasRun(id)).toBe(true);
  });

  it("whose backend dies nothing is stored, the error says so, and the whole may be tried again", async ({
    skip,
  }) => {
    skip(caller?.diesWith !== null, caller?.diesWith ?? "");
    const { store, db } = database();
    const [id, locked] = [randomUUID(), randomUUID()];
    await store.append(locked, notes(1), { expectedSeq: 0 });
    const codes: string[] = [];
    const work = () =>
      transaction(async ({ tx, insertRun }) => {
        await insertRun(id);
        await store.append(id, [note("first")], { expectedSeq: 0, tx });
        const second = store.append(locked, notes(1), { expectedSeq: 1, tx });
        codes.push(await codeOf(second));
        await second;
      });

    await db.transaction(async (other) => {
      await other.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [locked],
      );
      const dying = Promise.allSettled([work()]);
      await expect.poll(terminateWaiting).toBe(1);
      expect(await dying).toMatchObject([{ status: "rejected" }]);
    });

    expect(codes).toEqual(["DATABASE_UNAVAILABLE"]);
    expect(await hasRun(id)).toBe(false);
    expect(await codeOf(store.session(id))).toBe("SESSION_NOT_FOUND");
    await work();
    expect(await collect(store, id)).toHaveLength(1);
    expect(await collect(store, locked)).toHaveLength(2);
  });

  it("the session is held until its end: an append of another waits, and then conflicts", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    const waiting = await transaction(async ({ tx }) => {
      await store.append(id, [note("joined")], { expectedSeq: 1, tx });
      return {
        code: codeOf(store.append(id, [note("late")], { expectedSeq: 1 })),
      };
    });

    expect(await waiting.code).toBe("WRONG_EXPECTED_SEQ");
    expect((await storedTexts(id)).at(-1)).toEqual({ text: "joined" });
  });

  it.each(["repeatable read", "serializable"] as const)(
    "of isolation %s an append is refused, and nothing is stored",
    async (isolation) => {
      const { store } = database();
      const id = randomUUID();

      const refused = await transaction(
        ({ tx }) => codeOf(store.append(id, notes(1), { expectedSeq: 0, tx })),
        { isolation },
      );

      expect(refused).toBe("TRANSACTION_UNSUITABLE");
      expect(await codeOf(store.session(id))).toBe("SESSION_NOT_FOUND");
    },
  );

  it("that has not begun an append is refused, and nothing is stored", async () => {
    const { store } = database();
    const id = randomUUID();

    const refused = await codeOf(
      store.append(id, notes(1), {
        expectedSeq: 0,
        ...(caller === undefined ? {} : { tx: caller.noTransaction }),
      }),
    );

    expect(refused).toBe("TRANSACTION_UNSUITABLE");
    expect(await codeOf(store.session(id))).toBe("SESSION_NOT_FOUND");
  });
});

describe("a transaction of nobody", () => {
  it("is refused", async () => {
    const { store } = database();
    const call: unknown = Reflect.apply(Reflect.get(store, "append"), store, [
      randomUUID(),
      notes(1),
      { expectedSeq: 0, tx: {} },
    ]);

    await expect(call).rejects.toMatchObject({
      code: "TRANSACTION_UNSUITABLE",
    });
  });
});
