import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import {
  BuildLockedError,
  BuildNotFoundError,
  BuildVerifyFailedError,
} from "../../src/errors.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import {
  appendLog,
  expectCheckpointsAtFactsHead,
  expectFolded,
} from "../support/append-log.ts";
import { liveRows } from "../support/build-rows.ts";
import { freshDatabase } from "../support/database.ts";
import { deltas, note, notes } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";
import { notesProjection } from "../support/projector-notes.ts";
import { exampleLog, foldFully, schemaOf } from "../support/projector-steps.ts";
import {
  ALL,
  buildStates,
  expectTidy,
  liveState,
  operator,
  structureOf,
} from "../support/rebuilds.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";

const LOGS = [
  "01-fix-failing-test.jsonl",
  "04-compaction.jsonl",
  "08-nul-and-pruned-output.jsonl",
  "09-output-limit-and-cancel.jsonl",
];

/** A database with some sessions in its log, folded or not. */
async function withSessions(options: { readonly isFolded: boolean }) {
  const fresh = await freshDatabase();
  const logs = [];
  for (const name of LOGS)
    logs.push(await appendLog(fresh.store, exampleLog(name), 200));
  if (options.isFolded) await catchUp(fresh.db);
  return { ...fresh, logs };
}

describe("a rebuild", () => {
  it.each([true, false])(
    "puts builds in the place of the live ones that hold the fold of the log (folded before: %s)",
    async (isFolded) => {
      await using fresh = await withSessions({ isFolded });
      const { db, logs } = fresh;
      const before = await buildStates(db);

      const result = await operator(db).rebuild(ALL);

      for (const log of logs) await expectFolded(db, log);
      const after = await buildStates(db);
      expect(
        after
          .filter(({ status }) => status === "live")
          .map((b) => b.projection),
      ).toEqual(ALL);
      expect(
        after
          .filter(({ status }) => status === "kept")
          .map(({ number }) => number),
      ).toEqual(before.map(({ number }) => number));
      expect(result.verified.map((row) => row.projection)).toEqual(ALL);
      await expectTidy(db);
    },
  );

  it("makes tables, keys and indexes as those of a first build are", async () => {
    await using fresh = await withSessions({ isFolded: true });
    const { db } = fresh;

    await operator(db).rebuild(ALL);

    const builds = await buildStates(db);
    for (const name of ALL) {
      const [first, second] = builds.filter(
        ({ projection }) => projection === name,
      );
      expect(await structureOf(db, second?.number ?? 0)).toEqual(
        await structureOf(db, first?.number ?? 0),
      );
    }
  });

  it("of a store without a session ends, and so does one of sessions of deltas alone (53)", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    await operator(db).rebuild(ALL);
    await store.append(randomUUID(), deltas(["a", "b"]), {
      expectedSeq: 0,
      allowFindings: true,
    });

    await operator(db).rebuild(ALL);

    await expectTidy(db);
    await expectCheckpointsAtFactsHead(db);
  });

  it("rights what was wrong in the live tables, and says in how many sessions", async () => {
    await using fresh = await withSessions({ isFolded: true });
    const { db, logs } = fresh;
    await db.rows({
      text: `update ${await schemaOf(db, "messages")}.messages set text = 'wrong'`,
    });

    const { verified } = await operator(db).rebuild(["messages"]);

    expect(verified[0]?.driftedSessions).toBe(logs.length);
    for (const log of logs) await expectFolded(db, log);
  });

  it("is waited for no longer than it takes: an event is in the new tables, or waitFor waits (B117)", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const id = randomUUID();
    await store.append(id, notes(100), { expectedSeq: 0 });

    await operator(db).rebuild(ALL);

    await store.waitFor(id, { seq: 99, timeoutMs: 1 });
    await store.append(id, notes(1), { expectedSeq: 100 });
    await expect(
      store.waitFor(id, { seq: 100, timeoutMs: 1 }),
    ).rejects.toMatchObject({ code: "WAIT_TIMEOUT" });
  });

  it("keeps grants on views, tables and schemas", async () => {
    await using fresh = await freshDatabase();
    const { db } = fresh;
    const role = `reader_${randomUUID().replaceAll("-", "")}`;
    const schema = await schemaOf(db, "messages");
    for (const text of [
      `create role ${role}`,
      `grant usage on schema turnlog_read, ${schema} to ${role}`,
      `grant select on turnlog_read.messages to ${role}`,
      `grant insert, select on ${schema}.messages to ${role}`,
    ])
      await db.rows({ text });
    try {
      await operator(db).rebuild(["messages"]);

      const next = await schemaOf(db, "messages");
      expect(next).not.toBe(schema);
      const [may] = await db.rows(
        {
          text: `
            select has_table_privilege($1, 'turnlog_read.messages', 'select') as reads,
                   has_schema_privilege($1, $2, 'usage') as enters,
                   has_table_privilege($1, $2 || '.messages', 'insert') as writes,
                   has_table_privilege($1, $2 || '.messages', 'delete') as deletes`,
        },
        [role, next],
      );
      expect(may).toEqual({
        reads: true,
        enters: true,
        writes: true,
        deletes: false,
      });
    } finally {
      await db.rows({ text: `drop owned by ${role}` });
      await db.rows({ text: `drop role ${role}` });
    }
  });

  it("writes a session that is larger than a chunk in parts", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const id = randomUUID();
    const projection = notesProjection("many");
    await ensureBuilds(db, [...builtInProjections, projection]);
    for (let seq = 0; seq < 45_000; seq += 15_000)
      await store.append(id, notes(15_000), { expectedSeq: seq });

    await operator(db, [projection]).rebuild(["many"]);

    const rows = (await liveRows(db, projection, id))["note_lines"] ?? [];
    expect(rows.map((row) => row["seq"])).toEqual(
      Array.from({ length: 45_000 }, (_, seq) => seq),
    );
    expect(rows.at(-1)).toMatchObject({ earlier: 44_999 });
  });

  it("leaves older kept builds behind: there is one to roll back to", async () => {
    await using fresh = await freshDatabase();
    const { db } = fresh;
    const builds = operator(db);
    await builds.rebuild(["titles"]);
    const second = await builds.rebuild(["titles"]);

    expect(second.dropped).toHaveLength(1);
    const states = await buildStates(db);
    expect(
      states
        .filter(({ projection }) => projection === "titles")
        .map(({ status }) => status),
    ).toEqual(["kept", "live"]);
    expect(
      (await builds.list({ all: true })).filter(
        ({ status }) => status === "dropped",
      ),
    ).toHaveLength(1);
    await expectTidy(db);
  });
});

/** A fold that throws at a note with a word in it. */
const failsAt = (word: string) => (text: string) => {
  if (text.includes(word)) throw new TypeError("this fold is broken");
  return text;
};

describe("a build that its fold fails at", () => {
  it.each([
    ["throws", failsAt("two"), "TypeError"],
    [
      "writes what the database refuses",
      (text: string) => (text.includes("two") ? "a\u0000b" : text),
      "22021",
    ],
  ])(
    "because it %s is never swapped; the event is named, and a cancellation leaves all as it was (53)",
    async (_what, write, errorCode) => {
      await using fresh = await freshDatabase();
      const { db, store } = fresh;
      const good = notesProjection("fragile");
      const all = [...builtInProjections, good];
      await ensureBuilds(db, all);
      const [broken, whole] = [randomUUID(), randomUUID()];
      await store.append(broken, [note("one"), note("two"), note("three")], {
        expectedSeq: 0,
      });
      await store.append(whole, [note("one")], { expectedSeq: 0 });
      for (const id of [broken, whole]) await foldFully(db, id, all);
      const before = await liveState(db);
      const builds = operator(db, [notesProjection("fragile", write)]);

      const error = await builds.rebuild(["fragile"]).catch((e: unknown) => e);

      expect(error).toBeInstanceOf(BuildVerifyFailedError);
      expect(error).toMatchObject({ sessionId: broken, seq: 1, errorCode });
      const [progress] = await builds.progress();
      expect(progress?.trouble).toContain("at seq 1");
      await builds.cancel();
      expect(await liveState(db)).toEqual(before);
      await expectTidy(db);
    },
  );
});

describe("a rebuild that can't begin", () => {
  it("names what is under way when it wants part of it", async () => {
    await using fresh = await freshDatabase();
    const { db } = fresh;
    const stop = AbortSignal.abort();
    const builds = operator(db);
    await builds.rebuild(["usage", "titles"], { signal: stop }).catch(() => 0);

    const joining = builds.rebuild(["usage"]);

    await expect(joining).rejects.toBeInstanceOf(BuildLockedError);
    await expect(joining).rejects.toThrow("usage version 1, titles version 1");
  });

  it("says what to do about another version, or none", async () => {
    await using fresh = await freshDatabase();
    const { db } = fresh;
    const notYet = notesProjection("later");
    const builds = operator(db, [notYet]);
    await expect(builds.rebuild(["later"])).rejects.toThrow("turnlog migrate");
    await ensureBuilds(db, [...builtInProjections, notYet]);
    const newer = operator(db, [notesProjection("later", undefined, 2)]);

    const rebuilding = newer.rebuild(["later"]);

    await expect(rebuilding).rejects.toBeInstanceOf(BuildNotFoundError);
    await expect(rebuilding).rejects.toThrow("turnlog deploy");
  });
});

describe("a reader with an old snapshot", () => {
  it("is waited for, named when that takes too long, and the rebuild goes on when it has ended", async () => {
    await using fresh = await withSessions({ isFolded: true });
    const { db } = fresh;
    await using reader = await openTransaction(db);
    await reader.rows({
      text: "set transaction isolation level repeatable read",
    });
    const count = "select count(*) as rows from turnlog_read.messages";
    const [before] = await reader.rows({ text: count });
    const builds = operator(db);

    const waiting = builds.rebuild(ALL, { waitMs: 200 });

    await expect(waiting).rejects.toBeInstanceOf(BuildLockedError);
    await expect(waiting).rejects.toThrow("idle in transaction");
    expect(await reader.rows({ text: count })).toEqual([before]);
    await reader.rollback();
    await builds.rebuild(ALL, { waitMs: 5_000 });
    await expectTidy(db);
  });
});
