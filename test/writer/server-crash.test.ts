import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { connect, type Db } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import { startEmbeddedPostgres } from "../../src/embedded/embedded-postgres.ts";
import { createSessionStore } from "../../src/session-store.ts";
import { collect, notes } from "../support/events.ts";
import { startFlakyProxy } from "../support/flaky-proxy.ts";
import { isLong } from "../support/property-runs.ts";

const CRASHES_AT: readonly number[] = isLong ? [100, 200, 300] : [30];
const EVENTS = isLong ? 400 : 60;

/** Has the server crash and recover: it ends all connections when one of its processes is killed. */
async function crash(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    const [backend] = await tx.rows<{ pid: number }>({
      text: "select pg_backend_pid() as pid",
    });
    if (backend !== undefined) process.kill(backend.pid, "SIGKILL");
    await tx.rows({ text: "select pg_sleep(60)" });
  });
}

async function migrateAt(databaseUrl: string): Promise<void> {
  await using db = connect({
    databaseUrl,
    poolSize: 1,
    applicationName: "turnlog-test-restart",
    preparedStatements: true,
  });
  await migrate(db);
}

it("a writer survives crashes of the server: what it acknowledged is there once, in order", async () => {
  const directory = join(tmpdir(), `turnlog-writer-crash-${process.pid}`);
  const server = await startEmbeddedPostgres({ directory });
  const settings = { databaseUrl: server.databaseUrl, poolSize: 4 };
  try {
    await using db = connect({
      ...settings,
      applicationName: "turnlog-test-crash",
      preparedStatements: true,
    });
    await migrate(db);
    await using store = await createSessionStore(settings);
    const id = randomUUID();
    await using writer = await store.create(id, {
      maxBatchEvents: 10,
      timeoutMs: 60_000,
    });

    const outcomes: unknown[] = [];
    for (let at = 0; at < EVENTS; at += 1) {
      await writer.write("feedback/record", { text: String(at) });
      if (at % 5 === 4) await writer.flush();
      if (!CRASHES_AT.includes(at)) continue;
      const [flushed, crashed] = await Promise.allSettled([
        writer.flush(),
        crash(db),
      ]);
      outcomes.push(
        flushed.status,
        crashed.status === "rejected" ? crashed.reason.code : null,
      );
    }
    await writer.flush();

    expect(outcomes).toEqual(
      CRASHES_AT.flatMap(() => ["fulfilled", "DATABASE_UNAVAILABLE"]),
    );
    const events = await collect(store, id);
    expect(events.map(({ data }) => data)).toEqual(
      Array.from({ length: EVENTS }, (_, at) => ({ text: String(at) })),
    );
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}, 180_000);

it("a writer waits for a server that is stopped and started again, and goes on without being opened anew", async () => {
  const directory = join(tmpdir(), `turnlog-writer-restart-${process.pid}`);
  const before = await startEmbeddedPostgres({ directory });
  await migrateAt(before.databaseUrl);
  // The server comes back on another port; the store knows none but that of the proxy.
  const proxy = await startFlakyProxy(before.databaseUrl);
  const store = await createSessionStore({ databaseUrl: proxy.url });
  const id = randomUUID();
  const writer = await store.create(id, { timeoutMs: 60_000 });
  await writer.append(notes(2));

  await before.close();
  const appending = writer.append(notes(1));
  const after = await startEmbeddedPostgres({ directory });
  proxy.server = after.databaseUrl;
  try {
    expect(await appending).toMatchObject({ firstSeq: 2, nextSeq: 3 });
    expect((await store.inspect(id)).isWriterAlive).toBe(true);
    await writer.append(notes(1));
    expect(await collect(store, id)).toHaveLength(4);
  } finally {
    await writer.close();
    await store.close();
    await proxy[Symbol.asyncDispose]();
    await after.close();
    await rm(directory, { recursive: true, force: true });
  }
}, 180_000);
