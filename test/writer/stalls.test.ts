import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSessionStore } from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, notes } from "../support/events.ts";
import { startFlakyProxy } from "../support/flaky-proxy.ts";

const database = useTestDatabase();
const LONG_MS = 600_000;

function texts(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `text ${at}`);
}

async function storedTexts(id: string): Promise<unknown[]> {
  const events = await collect(database().store, id);
  return events.map(({ data }) => data);
}

/** Resolves when the session has this many events. */
async function storedCount(id: string, count: number): Promise<void> {
  await expect
    .poll(async () => (await storedTexts(id)).length, { timeout: 20_000 })
    .toBe(count);
}

describe("a writer whose database does not answer", () => {
  it.each(["cut", "swallow"] as const)(
    "keeps what it has taken (%s), says so at the flush, and stores it once at the next",
    async (answers) => {
      await using proxy = await startFlakyProxy(database().url);
      await using store = await createSessionStore({ databaseUrl: proxy.url });
      const id = randomUUID();
      await using writer = await store.create(id, {
        maxDelayMs: LONG_MS,
        timeoutMs: 300,
      });
      await writer.append(notes(1));
      proxy.answers = answers;
      for (const text of texts(3))
        await writer.write("feedback/record", { text });

      await expect(writer.flush()).rejects.toMatchObject({ retryable: true });
      await writer.write("feedback/record", { text: "behind" });
      await expect(writer.flush()).rejects.toMatchObject({
        code: "APPEND_OUTCOME_UNKNOWN",
        retryable: true,
      });
      proxy.answers = "pass";
      await writer.flush();

      expect((await storedTexts(id)).slice(1)).toEqual(
        [...texts(3), "behind"].map((text) => ({ text })),
      );
      expect(writer.storedSeq).toBe(5);
    },
  );

  it("stores a kept batch when the next event comes", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const id = randomUUID();
    await using writer = await store.create(id, {
      maxDelayMs: 1,
      timeoutMs: 200,
    });
    await writer.append(notes(1));
    proxy.answers = "cut";
    await writer.write("feedback/record", { text: "kept" });
    await expect(writer.flush()).rejects.toMatchObject({ retryable: true });
    proxy.answers = "pass";

    await writer.write("feedback/record", { text: "next" });

    await storedCount(id, 3);
  });

  it("makes writes wait once it is full, and refuses them when storing fails: what is refused is not taken", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const id = randomUUID();
    await using writer = await store.create(id, {
      maxDelayMs: 1,
      maxBatchEvents: 2,
      timeoutMs: 300,
    });
    await writer.append(notes(1));
    proxy.answers = "swallow";

    const writing = texts(20).map((text) =>
      writer.write("feedback/record", { text }),
    );
    const results = await Promise.allSettled(writing);
    proxy.answers = "pass";
    await writer.flush();

    const taken = texts(20).filter(
      (_, at) => results[at]?.status === "fulfilled",
    );
    expect(taken.length).toBeLessThan(20);
    expect((await storedTexts(id)).slice(1)).toEqual(
      taken.map((text) => ({ text })),
    );
    expect(
      results.flatMap((result) =>
        result.status === "rejected" ? [result.reason.retryable] : [],
      ),
    ).toEqual(Array.from({ length: 20 - taken.length }, () => true));
  });

  it("takes the same append again under its id, and stores it once", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const [id, appendId] = [randomUUID(), randomUUID()];
    await using writer = await store.create(id, { timeoutMs: 200 });
    await writer.append(notes(1));
    proxy.answers = "swallow";
    await expect(writer.append(notes(2), { appendId })).rejects.toMatchObject({
      retryable: true,
    });
    proxy.answers = "pass";

    const again = await writer.append(notes(2), { appendId });

    expect(again).toMatchObject({ firstSeq: 1, nextSeq: 3 });
    expect(await collect(database().store, id)).toHaveLength(3);
    expect(writer.nextSeq).toBe(3);
  });

  it("creates its session once, though the first answer is lost, and goes on as its writer", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const id = randomUUID();
    await using writer = await store.create(id, { timeoutMs: 200 });
    proxy.answers = "swallow";
    await expect(writer.append(notes(1))).rejects.toMatchObject({
      code: "APPEND_OUTCOME_UNKNOWN",
    });
    await storedCount(id, 1);
    proxy.answers = "pass";

    await writer.append(notes(1));

    expect(await collect(database().store, id)).toHaveLength(2);
    await expect(database().store.open(id)).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
  });

  it("tells at closing what could not be stored, and lets nothing hang", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const id = randomUUID();
    const writer = await store.create(id, {
      maxDelayMs: LONG_MS,
      timeoutMs: 200,
    });
    await writer.append(notes(1));
    await writer.write("feedback/record", { text: "lost" });
    proxy.answers = "cut";

    await expect(writer.close()).rejects.toMatchObject({
      code: "APPEND_OUTCOME_UNKNOWN",
    });
  });
});

describe("a writer whose backends are terminated all the time", () => {
  it("loses nothing that it acknowledged, stores nothing twice, and the pool recovers", async () => {
    const { db, url } = database();
    const applicationName = `writer-${randomUUID()}`;
    await using store = await createSessionStore({
      databaseUrl: url,
      applicationName,
    });
    const ids = Array.from({ length: 4 }, () => randomUUID());
    const writers = await Promise.all(
      ids.map((id) =>
        store.create(id, { maxBatchEvents: 3, timeoutMs: 60_000 }),
      ),
    );
    const killing = new AbortController();
    const killer = (async () => {
      let kills = 0;
      // A slow machine would do nothing but connect if it went on for ever.
      while (!killing.signal.aborted && kills < 15) {
        const killed = await db.rows(
          {
            text: `
              select pg_terminate_backend(pid), pg_sleep(0.1)
              from pg_stat_activity
              where application_name = $1`,
          },
          [applicationName],
        );
        kills += killed.length;
      }
      return kills;
    })();

    await Promise.all(
      writers.map(async (writer) => {
        for (const text of texts(120)) {
          await writer.write("feedback/record", { text });
          if (text.endsWith("7")) await writer.flush();
        }
        await writer.close();
      }),
    );
    killing.abort();
    expect(await killer).toBeGreaterThan(3);

    for (const id of ids)
      expect(await storedTexts(id)).toEqual(
        texts(120).map((text) => ({ text })),
      );
    expect((await store.session(ids[0] ?? "")).head).toBe(120);
  });
});
