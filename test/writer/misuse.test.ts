import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createSessionStore } from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes } from "../support/events.ts";
import { startFlakyProxy } from "../support/flaky-proxy.ts";

const database = useTestDatabase();

/** Calls a method as JavaScript callers may. */
async function callAnything(
  on: object,
  method: string,
  ...given: readonly unknown[]
): Promise<unknown> {
  return Reflect.apply(Reflect.get(on, method), on, given);
}

describe("what can't be meant is refused by name", () => {
  it.each<[string, string, readonly unknown[]]>([
    ["maxDelayMs", "create", ["id", { maxDelayMs: -1 }]],
    ["maxBatchEvents", "create", ["id", { maxBatchEvents: 0 }]],
    ["maxBatchCharacters", "create", ["id", { maxBatchCharacters: 1.5 }]],
    ["holdMs", "create", ["id", { holdMs: "5" }]],
    ["holdMs", "open", ["id", { holdMs: 0 }]],
    ["timeoutMs", "open", ["id", { timeoutMs: Number.NaN }]],
    ["header", "create", ["id", { header: 5 }]],
    ["tenant", "create", ["id", { tenant: "\0" }]],
    ["session-id", "open", [undefined]],
    ["session-id", "takeOver", [""]],
    ["session-id", "inspect", [5]],
    ["sessionIds", "revisions", ["id"]],
    ["before", "event", ["id", 0, { before: 51 }]],
    ["seq", "traceEvent", ["id", "0"]],
    ["after", "sessions", [{ after: "id" }]],
    ["after.activityMs", "sessions", [{ after: {} }]],
    ["after.sessionId", "sessions", [{ after: { activityMs: 1 } }]],
    ["cwd", "sessions", [{ cwd: 5 }]],
    ["tenant", "sessions", [{ tenant: "\0" }]],
    ["statuses", "sessions", [{ statuses: "idle" }]],
    ["sessionIds", "sessions", [{ sessionIds: [5] }]],
    ["createdFromMs", "sessions", [{ createdFromMs: new Date() }]],
    ["createdToMs", "sessions", [{ createdToMs: 1.5 }]],
  ])("%s of %s(%j)", async (path, method, given) => {
    await expect(
      callAnything(database().store, method, ...given),
    ).rejects.toMatchObject({ code: "EVENT_INVALID", path });
  });

  it.each<[string, string, readonly unknown[]]>([
    ["type", "write", []],
    ["type", "write", [5, {}]],
    ["data", "write", ["feedback/record"]],
    ["time", "write", ["feedback/record", {}, { time: "now" }]],
    ["0", "write", ["feedback/record", {}, "x"]],
    ["events", "append", []],
    ["events", "append", [note()]],
    ["append-id", "append", [[], { appendId: "first" }]],
    ["listener", "subscribe", ["listener"]],
    ["onError", "subscribe", [() => undefined, "ignore"]],
  ])("%s of a writer's %s(%j)", async (path, method, given) => {
    await using writer = await database().store.create(randomUUID());

    await expect(callAnything(writer, method, ...given)).rejects.toMatchObject({
      code: "EVENT_INVALID",
      path,
    });
    expect(writer.nextSeq).toBe(0);
  });

  it("but null stands for no options", async () => {
    const { store } = database();
    const id = randomUUID();
    const writer = await store.create(id);
    await callAnything(writer, "write", "feedback/record", { text: "a" }, null);
    await callAnything(writer, "append", notes(1), null);
    await writer.close();

    expect(await collect(store, id)).toHaveLength(2);
  });
});

describe("an error handler that fails later", () => {
  const unhandled: unknown[] = [];
  const keep = (error: unknown): void => {
    unhandled.push(error);
  };
  afterEach(() => {
    process.off("unhandledRejection", keep);
  });

  it("hurts nobody", async () => {
    process.on("unhandledRejection", keep);
    await using writer = await database().store.create(randomUUID());
    let failures = 0;
    writer.subscribe(
      () => Promise.reject(new Error("the listener")),
      async () => {
        failures += 1;
        throw new Error("its handler");
      },
    );

    await writer.append(notes(2));

    await expect.poll(() => failures).toBe(2);
    await sleep(0);
    expect(unhandled).toEqual([]);
  });
});

describe("a writer of a store that was closed", () => {
  it("is told by its heartbeat, and closes without an error of its own", async () => {
    await using proxy = await startFlakyProxy(database().url);
    const store = await createSessionStore({ databaseUrl: proxy.url });
    const writer = await store.create(randomUUID(), { holdMs: 30 });
    await writer.append(notes(1));
    await store.close();

    await expect
      .poll(() =>
        writer.flush().then(
          () => "flushed",
          (error: { code: string }) => error.code,
        ),
      )
      .toBe("STORE_CLOSED");
    await expect(writer.append(notes(1))).rejects.toMatchObject({
      code: "STORE_CLOSED",
    });
    await expect(writer.close()).resolves.toBeUndefined();
  });
});

describe("a take-over in the middle of a stream", () => {
  it("leaves what was stored, refuses the rest, and answers every write", async () => {
    const { store } = database();
    const id = randomUUID();
    const writer = await store.create(id, {
      maxBatchEvents: 5,
      maxDelayMs: 1,
    });
    await writer.append(notes(1));
    const writing = Promise.allSettled(
      Array.from({ length: 300 }, (_, at) =>
        writer.write("feedback/record", { text: `text ${at}` }),
      ),
    );
    await expect
      .poll(() => writer.storedSeq, { interval: 1 })
      .toBeGreaterThan(5);
    const { head } = await store.takeOver(id);

    const answers = await writing;

    const codes = answers.flatMap((answer) =>
      answer.status === "rejected" ? [answer.reason.code] : [],
    );
    expect(new Set(codes)).toEqual(new Set(["WRITER_FENCED"]));
    const taken = answers.length - codes.length;
    expect(taken).toBeGreaterThanOrEqual(head - 1);
    expect(writer.storedSeq).toBe(head);
    expect((await collect(store, id)).slice(1).map(({ data }) => data)).toEqual(
      Array.from({ length: head - 1 }, (_, at) => ({ text: `text ${at}` })),
    );
    await writer.close();
  });
});
