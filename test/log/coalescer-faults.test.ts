import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { connect } from "../../src/db/connect.ts";
import {
  AppendOutcomeUnknownError,
  DatabaseUnavailableError,
} from "../../src/errors.ts";
import type { AppendResult } from "../../src/log/append-request.ts";
import {
  createSessionStore,
  storeOver,
  type SessionStore,
} from "../../src/session-store.ts";
import { countingDb } from "../support/counting-db.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes } from "../support/events.ts";
import { startFlakyProxy } from "../support/flaky-proxy.ts";

const database = useTestDatabase();

const MANY = "turnlog_append_many_v1";

/** Sessions with one event, known to the store. */
async function createSessions(
  store: SessionStore,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => randomUUID());
  await Promise.all(
    ids.map((id) => store.append(id, notes(1), { expectedSeq: 0 })),
  );
  return ids;
}

/** Three appends to each session at once: by seq and to any seq. */
function appendThree(
  store: SessionStore,
  ids: readonly string[],
  timeoutMs = 10_000,
): Promise<AppendResult>[] {
  return ids.flatMap((id) => [
    store.append(id, [note("first")], { expectedSeq: 1, timeoutMs }),
    store.append(id, [note("second")], { expectedSeq: "any", timeoutMs }),
    store.append(id, [note("third")], { expectedSeq: 3, timeoutMs }),
  ]);
}

async function expectEachOnce(ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const events = await collect(database().store, id);
    expect(events.map(({ data }) => data)).toEqual(
      ["note 0", "first", "second", "third"].map((text) => ({ text })),
    );
  }
}

function seqsOf(results: readonly AppendResult[]): number[] {
  return results.map(({ firstSeq }) => firstSeq);
}

async function untilHead(id: string, head: number): Promise<void> {
  while ((await database().store.session(id)).head < head) await sleep(5);
}

describe("a flush whose connection is cut", () => {
  it("before it arrives is sent again, one append after the other, and each is stored once", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const ids = await createSessions(store, 5);
    proxy.requests = "cut";
    const appending = Promise.all(appendThree(store, ids));
    await sleep(0);
    setTimeout(() => (proxy.requests = "pass"), 50);

    expect(seqsOf(await appending)).toEqual(ids.flatMap(() => [1, 2, 3]));
    await expectEachOnce(ids);
  });

  it("after its commit is found stored, each append with its own first answer", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const ids = await createSessions(store, 5);
    proxy.answers = "cut";
    const appending = Promise.all(appendThree(store, ids));
    for (const id of ids) await untilHead(id, 4);
    proxy.answers = "pass";

    const results = await appending;

    expect(seqsOf(results)).toEqual(ids.flatMap(() => [1, 2, 3]));
    expect(results.every(({ deduplicated }) => deduplicated)).toBe(true);
    await expectEachOnce(ids);
  });

  it("while it runs is rolled back or stored, and each append is stored once", async () => {
    const { db } = database();
    const victim = connect({
      databaseUrl: database().url,
      poolSize: 4,
      applicationName: "turnlog-flush-victim",
      preparedStatements: true,
    });
    await using store = storeOver(victim);
    const ids = await createSessions(store, 5);
    const raced = randomUUID();

    // Somebody creates one of the sessions, so that the flush waits on the way.
    const waiting = await db.transaction(async (tx) => {
      await tx.rows(
        {
          text: `
            insert into turnlog.sessions (session_id, incarnation, head, facts_head, rules_version, state, header)
            values ($1, gen_random_uuid(), 1, 1, 1, '{}', '{}')`,
        },
        [raced],
      );
      const creation = store.append(raced, notes(1), { expectedSeq: 0 });
      creation.catch(() => undefined);
      const appending = Promise.all(appendThree(store, ids));
      let killed: readonly object[] = [];
      while (killed.length === 0)
        killed = await db.rows({
          text: `
            select pg_terminate_backend(pid)
            from pg_stat_activity
            where application_name = 'turnlog-flush-victim' and wait_event_type = 'Lock'`,
        });
      return { creation, appending };
    });

    expect(seqsOf(await waiting.appending)).toEqual(
      ids.flatMap(() => [1, 2, 3]),
    );
    await expect(waiting.creation).rejects.toMatchObject({
      code: "WRONG_EXPECTED_SEQ",
    });
    await expectEachOnce(ids);
  });

  it("and stays without an answer is unknown to the impatient caller, and found stored for the patient one", async () => {
    await using proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const [short = "", long = ""] = await createSessions(store, 2);
    const appendId = randomUUID();
    proxy.answers = "swallow";

    const patient = store.append(long, [note("b")], { expectedSeq: 1 });
    const impatient = store.append(short, [note("a")], {
      expectedSeq: 1,
      timeoutMs: 200,
      appendId,
    });
    await expect(impatient).rejects.toBeInstanceOf(AppendOutcomeUnknownError);
    proxy.answers = "pass";

    expect(await patient).toMatchObject({ firstSeq: 1, deduplicated: true });
    expect(
      await store.append(short, [note("a")], { expectedSeq: 1, appendId }),
    ).toMatchObject({ firstSeq: 1, deduplicated: true });
    for (const id of [short, long])
      expect(await collect(database().store, id)).toHaveLength(2);
  });

  it("is known not to be stored when the server can't be reached", async () => {
    const proxy = await startFlakyProxy(database().url);
    await using store = await createSessionStore({ databaseUrl: proxy.url });
    const ids = await createSessions(store, 3);
    await proxy[Symbol.asyncDispose]();
    await expect(store.session(ids[0] ?? "")).rejects.toBeInstanceOf(
      DatabaseUnavailableError,
    );

    const results = await Promise.allSettled(appendThree(store, ids, 200));

    expect(
      results.map((result) => result.status === "rejected" && result.reason),
    ).toEqual(results.map(() => expect.any(DatabaseUnavailableError)));
    for (const id of ids)
      expect(await collect(database().store, id)).toHaveLength(1);
  });
});

describe("a flush that the database refuses as a whole", () => {
  it("fails the append that is the reason, and stores the others one by one", async () => {
    const { db } = database();
    const counted = countingDb(db);
    const store = storeOver(counted);
    const ids = await createSessions(store, 4);
    const [bad = ""] = ids;
    await db.rows({
      text: `
        alter table turnlog.outbox
        add constraint outbox_refused_check check (session_id <> '${bad}') not valid`,
    });

    const results = await Promise.allSettled(
      ids.map((id) => store.append(id, notes(1), { expectedSeq: 1 })),
    );
    await db.rows({
      text: "alter table turnlog.outbox drop constraint outbox_refused_check",
    });

    expect(counted.statements.filter((name) => name === MANY)).toHaveLength(2);
    expect(results.map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(await store.append(bad, notes(1), { expectedSeq: 1 })).toMatchObject(
      {
        firstSeq: 1,
      },
    );
  });
});

describe("several processes", () => {
  it("append to the same sessions at once: no deadlock, nothing lost, nothing doubled", async () => {
    const { store, url, db } = database();
    const ids = await createSessions(store, 6);
    const script = join(import.meta.dirname, "append-to-all.ts");
    const before = await deadlocks();

    const codes = await Promise.all(
      ["a", "b", "c"].map(async (name) => {
        const writer = spawn(
          process.execPath,
          ["--import", "tsx", script, url, name, ...ids],
          { stdio: ["ignore", "ignore", "inherit"] },
        );
        const [code] = await once(writer, "exit");
        return code;
      }),
    );

    expect(codes).toEqual([0, 0, 0]);
    expect(await deadlocks()).toBe(before);
    for (const id of ids) {
      const events = await collect(store, id);
      const texts = events.slice(1).map(({ data }) => JSON.stringify(data));
      expect(new Set(texts).size).toBe(3 * 30);
      expect(events.at(-1)?.seq).toBe(3 * 30);
      for (const name of ["a", "b", "c"])
        expect(texts.filter((text) => text.includes(`"${name} `))).toEqual(
          Array.from({ length: 30 }, (_, at) =>
            JSON.stringify({ text: `${name} ${at}` }),
          ),
        );
    }

    async function deadlocks(): Promise<number> {
      const [row] = await db.rows<{ deadlocks: number }>({
        text: "select deadlocks from pg_stat_database where datname = current_database()",
      });
      return row?.deadlocks ?? -1;
    }
  });
});
