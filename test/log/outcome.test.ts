import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import {
  AppendOutcomeUnknownError,
  DatabaseUnavailableError,
} from "../../src/errors.ts";
import { createSessionStore } from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, notes } from "../support/events.ts";
import { startFlakyProxy } from "../support/flaky-proxy.ts";

const database = useTestDatabase();

describe("an append whose answer is lost", () => {
  it("is sent again and stored once when the connection breaks after the commit (B087, G4 #41)", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const id = randomUUID();
    proxy.answers = "cut";
    const appending = store.append(id, notes(3), { expectedSeq: 0 });
    while (
      (
        await database().db.rows(
          { text: "select from turnlog.sessions where session_id = $1" },
          [id],
        )
      ).length === 0
    )
      await sleep(5);
    proxy.answers = "pass";

    expect(await appending).toEqual({
      firstSeq: 0,
      nextSeq: 3,
      deduplicated: true,
    });
    expect(await collect(database().store, id)).toHaveLength(3);
  });

  it("is of unknown outcome when nothing answers before the deadline, and its retry is safe", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const id = randomUUID();
    const appendId = randomUUID();
    proxy.answers = "swallow";

    const unknown = store.append(id, notes(2), {
      expectedSeq: 0,
      appendId,
      timeoutMs: 400,
    });

    await expect(unknown).rejects.toBeInstanceOf(AppendOutcomeUnknownError);
    await expect(unknown).rejects.toMatchObject({
      sessionId: id,
      appendId,
      retryable: true,
    });
    proxy.answers = "pass";
    expect(
      await store.append(id, notes(2), { expectedSeq: 0, appendId }),
    ).toMatchObject({ firstSeq: 0, nextSeq: 2 });
    expect(await collect(database().store, id)).toHaveLength(2);
  });

  it("is known not to be stored when the server could not be reached at all", async () => {
    const proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    await proxy[Symbol.asyncDispose]();
    const id = randomUUID();
    await expect(store.session(id)).rejects.toBeInstanceOf(
      DatabaseUnavailableError,
    );

    await expect(
      store.append(id, notes(1), { expectedSeq: 0, timeoutMs: 200 }),
    ).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(database().store.session(id)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });
});

describe("an append to a session that somebody has locked", () => {
  it("waits, and tells that the session is busy when that takes too long", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    await db.transaction(async (tx) => {
      await tx.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [id],
      );
      const waiting = store.append(id, notes(1), {
        expectedSeq: 1,
        timeoutMs: 5_010,
      });
      await expect(waiting).rejects.toMatchObject({
        code: "SESSION_BUSY",
        sessionId: id,
        retryable: true,
      });
    });

    expect((await store.append(id, notes(1), { expectedSeq: 1 })).nextSeq).toBe(
      2,
    );
  });
});
