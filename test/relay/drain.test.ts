import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { freshDatabase, useTestDatabase } from "../support/database.ts";
import { deltas, note, notes, openStep } from "../support/events.ts";
import { runs } from "../support/property-runs.ts";
import { DrainLoop } from "../support/relay-drain-loop.ts";
import {
  appendIn,
  openTransaction,
} from "../support/relay-open-transaction.ts";
import {
  endLease,
  fedSeqs,
  lead,
  readFeed,
  readLease,
  waitingSeqs,
  workOf,
  untilBlocked,
} from "../support/relay-steps.ts";
import { sessionPlan, write } from "../support/relay-writers.ts";

const database = useTestDatabase();

/** Gives the session's first outbox row an id above all others, as a server with several sequences might have. */
async function invertIds(db: Db, sessionId: string): Promise<void> {
  await db.rows(
    {
      text: "update turnlog.outbox set id = default where session_id = $1 and first_seq = 0",
    },
    [sessionId],
  );
}

describe("a drain", () => {
  it("numbers the feed from 1 without a hole, whatever the limit (G1 #5)", async () => {
    await using fresh = await freshDatabase();
    const { db, store } = fresh;
    const leader = await lead(db);
    const ids = Array.from({ length: 6 }, () => randomUUID());

    for (const limit of [1, 2, 3, 5, 8, 1_000]) {
      for (const id of ids)
        await store.append(id, notes(2), { expectedSeq: "any" });
      await leader.drain(limit);
    }
    await leader.drain();

    const feed = await readFeed(db, ids);
    expect(feed.map(({ position }) => position)).toEqual(
      Array.from({ length: 36 }, (_, at) => at + 1),
    );
    expect((await readLease(db)).last_position).toBe(36);
  });

  it("keeps the order of a session's appends, whatever the order of their outbox ids (G1 #9, G5 #61)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    for (const expectedSeq of [0, 2, 4])
      await store.append(id, notes(2), { expectedSeq });
    await invertIds(db, id);

    await leader.drain();

    expect(await fedSeqs(db, id)).toEqual([0, 2, 4]);
  });

  it("takes every earlier append of a session it picks, beyond its limit", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    await leader.drain();
    const id = randomUUID();
    for (const expectedSeq of [0, 1, 2])
      await store.append(id, notes(1), { expectedSeq });
    await invertIds(db, id);

    const drained = await leader.drain(1);

    expect(drained?.appends).toBe(2);
    expect(await fedSeqs(db, id)).toEqual([0, 1]);
    expect(await waitingSeqs(db, id)).toEqual([2]);
  });

  it("takes the oldest first, and no more than its limit (G3 #39)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    await leader.drain();
    const ids = Array.from({ length: 5 }, () => randomUUID());
    for (const id of ids) await store.append(id, notes(1), { expectedSeq: 0 });

    const drained = [await leader.drain(2), await leader.drain(2)];

    expect(drained.map((one) => one?.sessionIds)).toEqual([
      ids.slice(0, 2).toSorted(),
      ids.slice(2, 4).toSorted(),
    ]);
    expect(await waitingSeqs(db, ids[4] ?? "")).toEqual([0]);
  });

  it("gives a late commit a later position and skips nothing (G1 #1, #2, #3, #6, #8)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const late = randomUUID();
    const early = randomUUID();
    await using tx = await openTransaction(db);
    await appendIn(tx, late, notes(1), 0);
    await store.append(early, notes(1), { expectedSeq: 0 });
    for (let drains = 0; drains < 4; drains += 1) await leader.drain();
    await tx.commit();

    await leader.drain();

    const feed = await readFeed(db, [early, late]);
    expect(feed.map((row) => row.session_id)).toEqual([early, late]);
  });

  it("does not see an append before it is committed (G3 #37)", async () => {
    const { db } = database();
    const leader = await lead(db);
    await leader.drain();
    const id = randomUUID();
    await using tx = await openTransaction(db);
    await appendIn(tx, id, notes(1), 0);

    expect(await leader.drain()).toEqual({ appends: 0, sessionIds: [] });
    expect(await workOf(db, id)).toBeNull();
  });

  it("leaves no hole for appends that were rolled back or lost a race (G1 #5, #19)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await leader.drain();
    await using tx = await openTransaction(db);
    await appendIn(tx, id, notes(1), 1);
    await tx.rollback();
    await expect(
      store.append(id, notes(1), { expectedSeq: 9 }),
    ).rejects.toMatchObject({ actualSeq: 1 });
    await store.append(id, notes(1), { expectedSeq: 1 });

    await leader.drain();

    const [first, second, ...rest] = await readFeed(db, [id]);
    expect(rest).toEqual([]);
    expect(second?.position).toBe((first?.position ?? 0) + 1);
  });

  it("goes on after outbox rows were deleted by hand (G1 #5)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of ids) await store.append(id, notes(1), { expectedSeq: 0 });
    await db.rows(
      { text: "delete from turnlog.outbox where session_id = $1" },
      [ids[1]],
    );

    await leader.drain();

    const [first, second, ...rest] = await readFeed(db, ids);
    expect(rest).toEqual([]);
    expect(second?.position).toBe((first?.position ?? 0) + 1);
  });

  it("passes deltas on to the feed and makes no work of them", async () => {
    const { db } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await appendIn(db, id, deltas(["a", "b"]), 0);

    const drained = await leader.drain();

    expect(drained?.sessionIds).not.toContain(id);
    expect(await readFeed(db, [id])).toMatchObject([
      { first_seq: 0, next_seq: 2, has_facts: false },
    ]);
    expect(await workOf(db, id)).toBeNull();
  });

  it("asks for work up to the last fact", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, [...openStep(), note(), ...deltas(["a", "b"])], {
      expectedSeq: 0,
    });
    await store.append(id, deltas(["c"]), { expectedSeq: 5 });

    const drained = await leader.drain();

    expect(drained?.sessionIds).toContain(id);
    expect(await workOf(db, id)).toBe(3);
  });

  it("never asks for less work than there was", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(3), { expectedSeq: 0 });
    await leader.drain();
    await db.rows(
      { text: "update turnlog.work set next_seq = 70 where session_id = $1" },
      [id],
    );
    await store.append(id, notes(1), { expectedSeq: 3 });

    await leader.drain();

    expect(await workOf(db, id)).toBe(70);
  });

  it("makes the lock row of a session it asks work for", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    await leader.drain();

    expect(
      await db.rows(
        {
          text: "select session_id from turnlog.projection_sessions where session_id = $1",
        },
        [id],
      ),
    ).toEqual([{ session_id: id }]);
  });

  it("takes what it feeds out of the outbox", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    await leader.drain();

    expect(await waitingSeqs(db, id)).toEqual([]);
  });

  it("renews the lease", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    await db.rows({
      text: "update turnlog.lease set until = clock_timestamp() + interval '1 second'",
    });
    await store.append(randomUUID(), notes(1), { expectedSeq: 0 });

    await leader.drain();

    const { until } = await readLease(db);
    expect(until.getTime()).toBeGreaterThan(Date.now() + 30_000);
  });

  it("waits for another one of the same leader, and both together feed each append once", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    await leader.drain();
    const ids = Array.from({ length: 10 }, () => randomUUID());
    for (const id of ids) await store.append(id, notes(1), { expectedSeq: 0 });
    await using tx = await openTransaction(db);
    await tx.rows({ text: "select from turnlog.lease for update" });
    const both = Promise.all([leader.drain(7), leader.drain(7)]);
    await untilBlocked(db, 2);
    await tx.commit();

    const drained = await both;

    expect(
      drained.map((one) => one?.appends ?? 0).toSorted((a, b) => a - b),
    ).toEqual([3, 7]);
    const positions = (await readFeed(db, ids)).map(({ position }) => position);
    const first = positions[0] ?? 0;
    expect(positions).toEqual(ids.map((_, at) => first + at));
  });

  it("feeds each committed append once, in its session's order, whoever leads and whatever commits late (G1 #4, #7, #10, #12, #14, #15, #16)", async () => {
    const { db } = database();
    await fc.assert(
      fc.asyncProperty(
        fc.array(sessionPlan, { minLength: 2, maxLength: 5 }),
        fc.array(
          fc.array(fc.integer({ min: 1, max: 6 }), {
            minLength: 1,
            maxLength: 4,
          }),
          { minLength: 2, maxLength: 2 },
        ),
        async (plans, limits) => {
          await endLease(db);
          const drains = new DrainLoop(db, limits);
          const written = await Promise.all(
            plans.map((plan) => write(db, plan, drains)),
          );
          await drains.passed(40);
          await drains.end();

          for (const { sessionId, committed, factsHead } of written) {
            const feed = await readFeed(db, [sessionId]);
            expect(feed.map((row) => [row.first_seq, row.next_seq])).toEqual(
              committed,
            );
            expect(await workOf(db, sessionId)).toBe(factsHead);
          }
          const [positions] = await db.rows({
            text: "select count(*) = max(position) and min(position) = 1 as dense from turnlog.feed",
          });
          expect(positions).toEqual({ dense: true });
        },
      ),
      { numRuns: runs(12) },
    );
  });
});
