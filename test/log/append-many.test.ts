import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callAppendMany } from "../../src/log/append-many-call.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { storeOver, type SessionStore } from "../../src/session-store.ts";
import { chainOf, type ChainSpec } from "../support/chains.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, deltas, note, notes, openStep } from "../support/events.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();

/** A stored session of one append, and what a client knows of it. */
async function stored(count = 1): Promise<{
  readonly sessionId: string;
  readonly firstSeq: number;
  readonly incarnation: string;
  readonly appendId: string;
}> {
  const { db, store } = database();
  const sessionId = randomUUID();
  const appendId = randomUUID();
  await store.append(sessionId, notes(count), { expectedSeq: 0, appendId });
  const [row] = await db.rows<{ incarnation: string }>(
    { text: "select incarnation from turnlog.sessions where session_id = $1" },
    [sessionId],
  );
  const incarnation = row?.incarnation ?? "";
  return { sessionId, firstSeq: count, incarnation, appendId };
}

/** A chain of one note that differs from all stored ones. */
function oneNote(appendId = randomUUID()): ChainSpec["appends"] {
  return [{ events: [note(`new ${appendId}`)], appendId }];
}

function send(...specs: readonly ChainSpec[]) {
  const { db } = database();
  return callAppendMany(
    db,
    specs.map((spec) => chainOf(db, spec)),
    10_000,
  );
}

async function headOf(sessionId: string): Promise<number> {
  return (await database().store.session(sessionId)).head;
}

describe("append_many_v1", () => {
  it("answers each chain in the order they were given, whatever the order of the sessions", async () => {
    const [first, second, third] = [
      await stored(3),
      await stored(1),
      await stored(2),
    ];

    const answers = await send(
      ...[first, second, third].map((session) => ({
        ...session,
        appends: oneNote(),
      })),
    );

    expect(answers).toMatchObject([
      { outcome: "appended", first_seq: 3, next_seq: 4 },
      { outcome: "appended", first_seq: 1, next_seq: 2 },
      { outcome: "appended", first_seq: 2, next_seq: 3 },
    ]);
  });

  it("stores the chains that fit beside any that do not", async () => {
    const { db } = database();
    const [good, behind, deleted, remade, newer] = [
      await stored(),
      await stored(3),
      await stored(),
      await stored(),
      await stored(),
    ];
    await db.rows(
      {
        text: "update turnlog.sessions set deleted_at = now() where session_id = $1",
      },
      [deleted.sessionId],
    );
    await db.rows(
      {
        text: "update turnlog.sessions set rules_version = 1000 where session_id = $1",
      },
      [newer.sessionId],
    );

    const answers = await send(
      { ...behind, firstSeq: 2, appends: oneNote() },
      { ...deleted, appends: oneNote() },
      { sessionId: randomUUID(), firstSeq: 0, appends: oneNote() },
      { ...remade, incarnation: randomUUID(), appends: oneNote() },
      { sessionId: randomUUID(), firstSeq: 4, appends: oneNote() },
      { ...newer, appends: oneNote() },
      { sessionId: deleted.sessionId, firstSeq: 0, appends: oneNote() },
      { ...good, appends: oneNote() },
    );

    expect(answers).toMatchObject([
      { outcome: "conflict", next_seq: 3 },
      { outcome: "deleted" },
      { outcome: "appended", first_seq: 0, next_seq: 1 },
      { outcome: "incarnation" },
      { outcome: "missing" },
      { outcome: "rules" },
      { outcome: "deleted" },
      { outcome: "appended", first_seq: 1, next_seq: 2 },
    ]);
    expect(await headOf(behind.sessionId)).toBe(3);
    expect(await headOf(remade.sessionId)).toBe(1);
  });

  it("knows an append again, at any seq, and one whose id stands for other events", async () => {
    const session = await stored(2);
    const again = [{ events: notes(2), appendId: session.appendId }];
    const reused = [{ events: notes(1), appendId: session.appendId }];

    for (const firstSeq of [0, 1, 2, 9]) {
      const spec = { ...session, firstSeq };
      expect(await send({ ...spec, appends: again })).toMatchObject([
        { outcome: "duplicate", first_seq: 0, next_seq: 2 },
      ]);
      expect(await send({ ...spec, appends: reused })).toMatchObject([
        { outcome: "reused", first_seq: 0, next_seq: 2 },
      ]);
    }
    expect(await headOf(session.sessionId)).toBe(2);
  });

  it("stores nothing of a chain with a later append that is stored already", async () => {
    const session = await stored(2);
    const again = { events: notes(2), appendId: session.appendId };

    const answers = await send({
      ...session,
      appends: [...oneNote(), again, ...oneNote()],
    });

    expect(answers).toMatchObject([{ outcome: "repeated" }]);
    expect(await headOf(session.sessionId)).toBe(2);
  });

  it("waits for no locked session, and stores the others", async () => {
    const [locked, free] = [await stored(), await stored()];

    const answers = await database().db.transaction(async (tx) => {
      await tx.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [locked.sessionId],
      );
      return send(
        { ...locked, appends: oneNote() },
        { ...free, appends: oneNote() },
      );
    });

    expect(answers).toMatchObject([
      { outcome: "busy" },
      { outcome: "appended" },
    ]);
    expect(await headOf(locked.sessionId)).toBe(1);
  });

  it("refuses rows that do not add up, and stores nothing", async () => {
    const { db } = database();
    const [first, second] = [await stored(), await stored()];
    const good = chainOf(db, { ...first, appends: oneNote() });
    const bad = chainOf(db, { ...second, appends: oneNote() });
    const tampered = {
      ...bad,
      appends: bad.appends.map((append) => ({
        ...append,
        batch: { ...append.batch, eventCount: 2 },
      })),
    };

    await expect(callAppendMany(db, [good, tampered], 10_000)).rejects.toThrow(
      "do not hold the events",
    );
    expect(await headOf(first.sessionId)).toBe(1);
  });

  it("fences off a writer of an older epoch, and keeps the present one alive", async () => {
    const { db } = database();
    const [old, present] = [await stored(), await stored()];
    await db.rows(
      {
        text: "update turnlog.sessions set writer_epoch = 5 where session_id = any($1)",
      },
      [[old.sessionId, present.sessionId]],
    );
    const sessions = [old, present];

    const rows = await db.rows(
      {
        text: `
          select outcome, epoch
          from turnlog.append_many_v1(
            $1, $2, '{1,1}', E'{}\\n{}', E'\\n', '{null,null}', '{4,5}', '{60000,60000}', 1,
            '{1,2}', $3, '{1,1}', '{1,1}', $4, '{1,2}',
            E'1\\n1', E'test/note\\ntest/note', E'0\\n0', E'\\n', E'\\n', E't\\nt', E'\\n', E'\\n', E'\\n', E'{}\\n{}')
          order by chain`,
      },
      [
        sessions.map(({ sessionId }) => sessionId),
        sessions.map(({ incarnation }) => incarnation),
        [randomUUID(), randomUUID()],
        Buffer.alloc(32),
      ],
    );

    expect(rows).toMatchObject([
      { outcome: "fenced", epoch: 5 },
      { outcome: "appended" },
    ]);
    const [row] = await db.rows(
      {
        text: "select writer_until > now() + interval '30 seconds' as alive from turnlog.sessions where session_id = $1",
      },
      [present.sessionId],
    );
    expect(row).toEqual({ alive: true });
  });

  it("leaves the rows that the same appends leave when each is sent by itself", async () => {
    const { db, store } = database();
    const alone = storeOver(db, { coalesce: false });
    const batch = fc.oneof(
      fc.integer({ min: 1, max: 3 }).map(notes),
      fc
        .integer({ min: 1, max: 5 })
        .map((count) =>
          deltas(Array.from({ length: count }, (_, at) => `${at}`)),
        ),
      fc.constant([...deltas(["a", "b"]), note(), ...deltas(["c", "d"])]),
    );
    const logs = fc.array(fc.array(batch, { maxLength: 6 }), {
      minLength: 1,
      maxLength: 5,
    });

    await fc.assert(
      fc.asyncProperty(logs, async (batches) => {
        const together = batches.map(appendsOf);
        const apart = batches.map(appendsOf);
        await Promise.all(
          together.flatMap(({ appends }) =>
            appends.map((append) => append(store)),
          ),
        );
        for (const { appends } of apart)
          for (const append of appends) await append(alone);

        for (const [at, { id }] of together.entries())
          expect(await rowsOf(id)).toEqual(await rowsOf(apart[at]?.id ?? ""));
      }),
      { numRuns: runs(15) },
    );
  });
});

/** Appends that make a new session of the batches, in their order. */
function appendsOf(batches: readonly (readonly NewEvent[])[]) {
  const id = randomUUID();
  const appends = [openStep(), ...batches].map(
    (events, number) => (to: SessionStore) =>
      to.append(
        id,
        events.map((event) => ({ ...event, time: 5 })),
        number === 0
          ? { expectedSeq: 0, header: { createdAt: 1 } }
          : { expectedSeq: "any" },
      ),
  );
  return { id, appends };
}

/** All that is stored of a session, but for what differs from session to session. */
async function rowsOf(sessionId: string): Promise<unknown> {
  const { db, store } = database();
  const queries = [
    `select seq, event_count, append_events, append_id is null as continued, append_digest, type, time_ms, turn, step,
            ignorable, surface_op, source_event_seqs, key_order, payload
     from turnlog.events where session_id = $1 order by seq`,
    "select head, facts_head, writer_epoch, rules_version, state, tenant from turnlog.sessions where session_id = $1",
    `select min(o.first_seq) as first_seq, max(o.next_seq) as next_seq, max(o.facts_next_seq) as facts_next_seq,
            sum(o.next_seq - o.first_seq)::bigint as events, bool_and(o.incarnation = s.incarnation) as is_same
     from turnlog.outbox o join turnlog.sessions s using (session_id) where session_id = $1`,
  ];
  const tables = [];
  for (const text of queries) tables.push(await db.rows({ text }, [sessionId]));
  return [tables, (await collect(store, sessionId)).length];
}
