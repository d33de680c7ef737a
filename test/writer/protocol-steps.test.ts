import { randomUUID } from "node:crypto";
import { expect, describe, it } from "vitest";
import { connect } from "../../src/db/connect.ts";
import { SessionId } from "../../src/events/ids.ts";
import { EventTypes } from "../../src/log/event-types.ts";
import { createSessionStore } from "../../src/session-store.ts";
import { openHold } from "../../src/writer/hold.ts";
import { resume } from "../../src/writer/resume.ts";
import type { SessionWriter } from "../../src/writer/session-writer.ts";
import { writerSettings } from "../../src/writer/writer-settings.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes, openStep } from "../support/events.ts";
import { startFlakyProxy, type FlakyProxy } from "../support/flaky-proxy.ts";

const database = useTestDatabase();

interface Site {
  readonly id: string;
  readonly proxy: FlakyProxy;
  /** Shown by the backends of the store under test. */
  readonly applicationName: string;
}

async function headOf(id: string): Promise<number> {
  return (await database().store.session(id)).head;
}

async function untilHead(id: string, head: number): Promise<void> {
  await expect
    .poll(() => headOf(id), { timeout: 20_000, interval: 5 })
    .toBe(head);
}

/** Runs `work` while the session row is locked, and ends the backend that waits for it. */
async function terminateInFlight<T>(
  { id, applicationName }: Site,
  work: () => Promise<T>,
): Promise<{ readonly going: Promise<T> }> {
  const { db } = database();
  return db.transaction(async (tx) => {
    await tx.rows(
      {
        text: "select from turnlog.sessions where session_id = $1 for update",
      },
      [id],
    );
    const going = work();
    going.catch(() => undefined);
    await expect
      .poll(
        async () =>
          (
            await db.rows(
              {
                text: `
                  select pg_terminate_backend(pid)
                  from pg_stat_activity
                  where application_name = $1 and wait_event_type = 'Lock'`,
              },
              [applicationName],
            )
          ).length,
        { timeout: 20_000, interval: 5 },
      )
      .toBe(1);
    return { going };
  });
}

/** The steps of an append at which its connection may be lost. `work` adds one event behind seq 0. */
const STEPS = {
  "before it is sent": async ({ proxy }, work) => {
    proxy.requests = "cut";
    const going = work();
    setTimeout(() => (proxy.requests = "pass"), 100);
    await going;
  },
  "while it waits in the server": async (site, work) => {
    const { going } = await terminateInFlight(site, work);
    await going;
  },
  "after its commit": async ({ id, proxy }, work) => {
    proxy.answers = "cut";
    const going = work();
    going.catch(() => undefined);
    await untilHead(id, 2);
    proxy.answers = "pass";
    await going;
  },
} satisfies Record<
  string,
  (site: Site, work: () => Promise<unknown>) => Promise<void>
>;

async function openSite() {
  const proxy = await startFlakyProxy(database().url);
  const applicationName = `steps-${randomUUID()}`;
  const store = await createSessionStore({
    databaseUrl: proxy.url,
    applicationName,
    poolSize: 2,
  });
  const id = randomUUID();
  return {
    store,
    site: { id, proxy, applicationName },
    async [Symbol.asyncDispose]() {
      await store.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** A writer whose session has one event, and whose heart beats too seldom to be seen. */
async function writerOf({
  store,
  site,
}: Awaited<ReturnType<typeof openSite>>): Promise<SessionWriter> {
  const writer = await store.create(site.id, {
    holdMs: 600_000,
    timeoutMs: 20_000,
  });
  await writer.append(notes(1));
  return writer;
}

describe.each(Object.entries(STEPS))(
  "a connection that is lost %s",
  (_step, lose) => {
    it("loses nothing of a flush, stores nothing twice, and the writer and its pool go on", async () => {
      await using opened = await openSite();
      const { site, store } = opened;
      const writer = await writerOf(opened);
      await writer.write("feedback/record", { text: "flushed" });

      await lose(site, () => writer.flush());

      expect(writer.storedSeq).toBe(2);
      await writer.append([note("after")]);
      await writer.close();
      const events = await collect(store, site.id);
      expect(events.map(({ data }) => data)).toEqual(
        ["note 0", "flushed", "after"].map((text) => ({ text })),
      );
    });

    it("loses nothing of an append that others share calls with, and answers each", async () => {
      await using opened = await openSite();
      const { site, store } = opened;
      const others = Array.from({ length: 3 }, () => randomUUID());
      const writer = await writerOf(opened);
      for (const other of others)
        await store.append(other, notes(1), { expectedSeq: 0 });

      const appending: Promise<unknown>[] = [];
      await lose(site, async () => {
        const written = writer.append([note("written")]);
        appending.push(
          ...others.map((other) =>
            store.append(other, [note("shared")], { expectedSeq: 1 }),
          ),
        );
        await written;
      });

      expect(await Promise.all(appending)).toMatchObject(
        others.map(() => ({ firstSeq: 1, nextSeq: 2 })),
      );
      for (const id of [site.id, ...others]) expect(await headOf(id)).toBe(2);
      await writer.close();
    });
  },
);

describe("a connection that is lost while a session is opened", () => {
  it("leaves the hold to its time, says so, and a take-over does not wait for it", async () => {
    await using opened = await openSite();
    const { site, store } = opened;
    await store.append(site.id, openStep(), { expectedSeq: 0 });

    site.proxy.answers = "cut";
    await expect(store.open(site.id)).rejects.toMatchObject({
      code: "DATABASE_UNAVAILABLE",
      retryable: true,
    });
    site.proxy.answers = "pass";

    const writer = await store.open(site.id, { takeOver: true });
    await writer.close();
    expect(await headOf(site.id)).toBe(5);
  });

  it("in its repair is met by sending that again: the turn is closed once", async () => {
    await using opened = await openSite();
    const { site, store } = opened;
    const { applicationName } = site;
    const id = SessionId(site.id);
    await store.append(id, openStep(), { expectedSeq: 0 });
    await using db = connect({
      databaseUrl: database().url,
      poolSize: 2,
      applicationName,
      preparedStatements: true,
    });
    const { limits } = store;
    const context = { db, types: new EventTypes(db), limits, ring: () => {} };
    const hold = await openHold(db, id, false, 600_000);

    const { going } = await terminateInFlight(site, () =>
      resume(context, hold, writerSettings({}, limits)),
    );

    expect((await going).head).toBe(5);
    expect((await collect(store, id)).map(({ type }) => type)).toEqual([
      "turn/start",
      "step/start",
      "step/end",
      "turn/end",
      "session/end-seed",
    ]);
  });
});
