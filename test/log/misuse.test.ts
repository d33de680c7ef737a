import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  ConfigInvalidError,
  EventNotFoundError,
  StoreClosedError,
  TurnlogError,
} from "../../src/errors.ts";
import {
  createSessionStore,
  type SessionStore,
} from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { anything, collect, note, notes } from "../support/events.ts";

const database = useTestDatabase();

/** What JavaScript callers may pass. */
async function appendAnything(
  store: SessionStore,
  ...given: readonly unknown[]
): Promise<unknown> {
  return Reflect.apply(Reflect.get(store, "append"), store, given);
}

describe("what a caller changes after the call", () => {
  it.each([0, "any"] as const)(
    "does not change what is stored (expectedSeq %s)",
    async (expectedSeq) => {
      const { store } = database();
      const id = randomUUID();
      const data = { text: "as sent" };
      const events = [anything(data)];
      const header = { cwd: "/as/sent" };
      const pending = store.append(id, events, { expectedSeq, header });
      data.text = "changed";
      events.push(note("added"));
      header.cwd = "/changed";
      await pending;

      expect((await collect(store, id)).map((event) => event.data)).toEqual([
        { text: "as sent" },
      ]);
      expect((await store.session(id)).header.cwd).toBe("/as/sent");
    },
  );
});

describe("a retry", () => {
  it("may name keys that are undefined, in another order, at any depth", async () => {
    const { store } = database();
    const [id, appendId] = [randomUUID(), randomUUID()];
    let deep: unknown = { b: 1, a: 2 };
    for (let level = 0; level < 4_998; level += 1) deep = [deep];
    let shuffled: unknown = { a: 2, b: 1 };
    for (let level = 0; level < 4_998; level += 1) shuffled = [shuffled];
    await store.append(id, [anything(deep)], { expectedSeq: 0, appendId });
    const again = {
      ...anything(shuffled),
      surfaceOp: undefined,
      sourceEventSeqs: undefined,
    };
    expect(
      await appendAnything(store, id, [again], { expectedSeq: 0, appendId }),
    ).toMatchObject({ deduplicated: true });
  });
});

describe("arguments that can't be meant are refused by name", () => {
  it.each<[string, unknown, unknown]>([
    ["events", "abc", { expectedSeq: 0 }],
    ["events", null, { expectedSeq: 0 }],
    ["expectedSeq", [], { expectedSeq: "3" }],
    ["expectedSeq", [], {}],
    ["expectedSeq", [], undefined],
    ["timeoutMs", [], { expectedSeq: 0, timeoutMs: Number.NaN }],
    ["timeoutMs", [], { expectedSeq: 0, timeoutMs: -1 }],
    ["tenant", [], { expectedSeq: 0, tenant: 5 }],
    ["tenant", [], { expectedSeq: 0, tenant: "a\0" }],
    ["header", [], { expectedSeq: 0, header: "x" }],
    ["append-id", [], { expectedSeq: 0, appendId: [randomUUID()] }],
  ])("%s", async (path, events, options) => {
    const { store } = database();
    const refused = appendAnything(store, randomUUID(), events, options);

    await expect(refused).rejects.toBeInstanceOf(TurnlogError);
    await expect(refused).rejects.toMatchObject({ path });
  });

  it("events that are none name their place", async () => {
    const { store } = database();
    await expect(
      appendAnything(store, randomUUID(), [note(), null], { expectedSeq: 0 }),
    ).rejects.toMatchObject({ index: 1 });
  });

  it.each([Number.NaN, -1, 1.5])(
    "a seq of %d to read from, or to wait for",
    async (seq) => {
      const { store } = database();
      const id = randomUUID();
      await store.append(id, notes(1), { expectedSeq: 0 });

      await expect(collect(store, id, seq)).rejects.toMatchObject({
        path: "fromSeq",
      });
      await expect(store.waitFor(id, { seq })).rejects.toMatchObject({
        path: "seq",
      });
    },
  );

  it("a URL that pg would guess the rest of", async () => {
    await expect(
      createSessionStore({ databaseUrl: "" }),
    ).rejects.toBeInstanceOf(ConfigInvalidError);
  });
});

describe("waiting", () => {
  it("for an event that the log does not have is told so", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, notes(2), { expectedSeq: 0 });

    await expect(store.waitFor(id, { seq: 2 })).rejects.toBeInstanceOf(
      EventNotFoundError,
    );
  });

  it("for ever is as long as a timer can wait", async () => {
    const { store } = database();

    expect(
      await store.append(randomUUID(), notes(1), {
        expectedSeq: 0,
        timeoutMs: Infinity,
      }),
    ).toMatchObject({
      nextSeq: 1,
      deduplicated: false,
    });
  });
});

describe("a closed store", () => {
  it("says so at once, and may be closed again", async () => {
    const store = await createSessionStore({ databaseUrl: database().url });
    await store.close();
    await store.close();

    await expect(
      store.append(randomUUID(), notes(1), { expectedSeq: 0 }),
    ).rejects.toBeInstanceOf(StoreClosedError);
    await expect(store.sessions()).rejects.toBeInstanceOf(TurnlogError);
  });
});
