import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import {
  appendLog,
  expectFolded,
  expectStoredAndFolded,
} from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { deltas, note, notes, openStep, prompt } from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { exampleFiles } from "../support/logs.ts";
import {
  checkpointOf,
  exampleLog,
  fold,
  foldFully,
  schemaOf,
} from "../support/projector-steps.ts";
import { runs } from "../support/property-runs.ts";
import { readLog } from "../support/reference-log.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";
import { lead, workOf } from "../support/relay-steps.ts";

const database = useTestDatabase();
const example = exampleLog("04-compaction.jsonl");

/** Which versions of a session's rows and checkpoints are there. */
async function rowVersions(db: Db, sessionId: string): Promise<object> {
  const tables = ["turnlog.checkpoints"];
  for (const { name } of builtInProjections)
    tables.push(`${await schemaOf(db, name)}.${name}`);
  const found = tables.map((table) =>
    db.rows(
      {
        text: `select xmin::text, ctid::text from ${table} where session_id = $1 order by ctid`,
      },
      [sessionId],
    ),
  );
  return Promise.all(found);
}

/** A log, and after which of its events an append ends and the projector comes. */
const batchedLog = fc.record({
  log: legalLog().filter(({ events }) => events.length > 0),
  batches: fc.array(
    fc.record({
      size: fc.integer({ min: 1, max: 40 }),
      isFolded: fc.boolean(),
    }),
    { minLength: 1, maxLength: 8 },
  ),
});

describe("the projector", () => {
  it.each(exampleFiles().map((file) => [basename(file), file]))(
    "folds %s as the pure fold does",
    async (_name, file) => {
      const { db, store } = database();
      const log = await appendLog(store, readLog(file), 25);

      await foldFully(db, log.header.id);

      await expectFolded(db, log);
    },
  );

  it("changes nothing when it is called again (G5 #65)", async () => {
    const { db, store } = database();
    const { header } = await appendLog(store, example, 500);
    await foldFully(db, header.id);
    const before = await rowVersions(db, header.id);

    expect(await fold(db, header.id)).toBe(false);

    expect(await rowVersions(db, header.id)).toEqual(before);
  });

  it("leaves a session to another projector that has it, without waiting (G3 #33, #35)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const { header } = await appendLog(store, example, 500);
    await leader.drain();
    await using tx = await openTransaction(db);
    await tx.rows(
      {
        text: "select from turnlog.projection_sessions where session_id = $1 for update",
      },
      [header.id],
    );
    const startedAt = performance.now();

    const again = await fold(db, header.id);

    expect(performance.now() - startedAt).toBeLessThan(1_500);
    expect(again).toBe(false);
    expect(await checkpointOf(db, header.id, "messages")).toBeNull();
    expect(await workOf(db, header.id)).toBe(example.events.length);
  });

  it("makes the lock row where there is none, and does not take it for a locked one", async () => {
    const { db, store } = database();
    const log = await appendLog(store, example, 500);
    const lockRow = () =>
      db.rows(
        {
          text: "select from turnlog.projection_sessions where session_id = $1",
        },
        [log.header.id],
      );
    expect(await lockRow()).toHaveLength(0);

    await foldFully(db, log.header.id);

    expect(await lockRow()).toHaveLength(1);
    await expectFolded(db, log);
  });

  it("does nothing for a session that does not exist", async () => {
    const { db } = database();
    const id = randomUUID();

    expect(await fold(db, id)).toBe(false);

    expect(
      await db.rows(
        {
          text: "select from turnlog.projection_sessions where session_id = $1",
        },
        [id],
      ),
    ).toEqual([]);
  });

  it("folds a session once though several projectors come at once (G3 #33, #34)", async () => {
    const { db, store } = database();
    const log = await appendLog(store, example, 20);

    await Promise.all([0, 1, 2, 3].map(() => fold(db, log.header.id)));
    await foldFully(db, log.header.id);

    await expectFolded(db, log);
  });

  it("takes the session off the work list when every build has its facts", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, [...openStep(), ...deltas(["a", "b"])], {
      expectedSeq: 0,
    });
    await leader.drain();

    await foldFully(db, id);

    expect(await workOf(db, id)).toBeNull();
    expect((await checkpointOf(db, id, "sessions"))?.next_seq).toBe(2);
  });

  it("asks to be called again when work came while it folded", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await leader.drain();
    await db.rows(
      { text: "update turnlog.work set next_seq = 9 where session_id = $1" },
      [id],
    );

    expect(await fold(db, id)).toBe(true);
    expect(await workOf(db, id)).toBe(9);
  });

  it("counts work that came while it folded from when it began, not from when the session was first behind", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const leader = await lead(db);
    await store.append(id, notes(1), { expectedSeq: 0 });
    await leader.drain();
    await foldFully(db, id);
    await db.rows(
      {
        text: `
          insert into turnlog.work (session_id, next_seq, since, ring_at, claimed_until)
          values ($1, 2, now() - interval '1 hour', now(), now())`,
      },
      [id],
    );

    await store.append(id, notes(1), { expectedSeq: 1 });
    await db.rows(
      { text: "update turnlog.work set next_seq = 3 where session_id = $1" },
      [id],
    );
    await fold(db, id);

    const [row] = await db.rows<{ waited: number }>(
      {
        text: "select extract(epoch from now() - since)::float8 as waited from turnlog.work where session_id = $1",
      },
      [id],
    );
    expect(row?.waited).toBeLessThan(600);
    await db.rows({ text: "delete from turnlog.work where session_id = $1" }, [
      id,
    ]);
  });

  it("does not fold deltas that nothing follows yet, and folds them with the fact that does", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await store.append(id, deltas(["a", "b", "c"]), { expectedSeq: 2 });
    await foldFully(db, id);
    expect((await checkpointOf(db, id, "sessions"))?.next_seq).toBe(2);

    await store.append(id, [note()], { expectedSeq: 5 });
    await foldFully(db, id);

    expect((await checkpointOf(db, id, "sessions"))?.next_seq).toBe(6);
  });

  it("leaves a long session after a while so that others get their turn, and comes to its end", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, [prompt("first"), ...notes(20_100)], {
      expectedSeq: 0,
    });
    await store.append(id, [prompt("last")], { expectedSeq: 20_101 });

    const calls = await foldFully(db, id);

    expect(calls).toBeGreaterThan(1);
    const { rows, asOfSeq } = await store.messages(id);
    expect(rows.map(({ seq }) => seq)).toEqual([0, 20_101]);
    expect(asOfSeq).toBe(20_101);
  });

  it("reads what it needs of a session whose handled events are far apart (G5 #51, #53)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const many = Array.from({ length: 2_500 }, (_, at) => `${at}`);
    await store.append(
      id,
      [
        prompt("first"),
        ...openStep(),
        ...deltas(many),
        prompt("second"),
        ...notes(1_200),
      ],
      { expectedSeq: 0 },
    );

    await foldFully(db, id);

    const { rows } = await store.messages(id);
    expect(rows.map(({ seq }) => seq)).toEqual([0, 2_503]);
  });

  it("makes the same rows of packed and of unpacked deltas", async () => {
    const { db, store } = database();
    const stored = async (id: string) =>
      db.rows({ text: "select from turnlog.events where session_id = $1" }, [
        id,
      ]);

    const packed = await appendLog(store, example, example.events.length);
    const unpacked = await appendLog(store, example, 1);
    await foldFully(db, packed.header.id);
    await foldFully(db, unpacked.header.id);

    expect(await stored(unpacked.header.id)).toHaveLength(
      example.events.length,
    );
    expect((await stored(packed.header.id)).length).toBeLessThan(
      example.events.length / 2,
    );
    await expectStoredAndFolded(store, db, packed);
    await expectStoredAndFolded(store, db, unpacked);
  });

  it("has after each call the fold of all facts so far, however appends and calls are batched (G5 #61)", async () => {
    const { db, store } = database();
    await fc.assert(
      fc.asyncProperty(batchedLog, async ({ log, batches }) => {
        const header = { ...log.header, id: randomUUID() };
        const { version: _version, id, ...given } = header;
        for (let seq = 0, at = 0; seq < log.events.length; at += 1) {
          const batch = batches[at % batches.length];
          const end = seq + (batch?.size ?? 1);
          await store.append(id, log.events.slice(seq, end), {
            expectedSeq: seq,
            header: given,
          });
          seq = end;
          if (batch?.isFolded !== true) continue;
          await foldFully(db, id);
          await expectFolded(db, { header, events: log.events.slice(0, end) });
        }
        await foldFully(db, id);
        await expectFolded(db, { header, events: log.events });
      }),
      { numRuns: runs(40) },
    );
  });
});
