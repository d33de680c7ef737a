import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { hasOutbox } from "../../src/relay/drain.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import {
  appendIn,
  openTransaction,
} from "../support/relay-open-transaction.ts";
import {
  fedSeqs,
  lead,
  readLease,
  type Leader,
} from "../support/relay-steps.ts";
import { eventually } from "../support/relay-waiting.ts";

const database = useTestDatabase();

/** The highest outbox id given so far, committed or not. */
async function lastId(db: Db): Promise<number> {
  const [row] = await db.rows<{ id: number }>({
    text: "select last_value as id from turnlog.outbox_id_seq",
  });
  return row?.id ?? 0;
}

/**
 * Appends and drains until the floor has come to an id: transactions of other tests on the same server may hold it
 * back for a while.
 */
async function untilFloor(leader: Leader, id: number): Promise<void> {
  const { db, store } = database();
  await eventually(async () => {
    await store.append(randomUUID(), notes(1), { expectedSeq: 0 });
    await leader.drain();
    expect((await readLease(db)).floor_id).toBeGreaterThanOrEqual(id);
  });
}

describe("the floor", () => {
  it("rises with the ids that are drained, and the drain itself does not hold it back (G1 #18)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    for (let count = 0; count < 3; count += 1)
      await store.append(randomUUID(), notes(1), { expectedSeq: 0 });

    const id = await lastId(db);

    await untilFloor(leader, id);

    expect((await readLease(db)).floor_id).toBeGreaterThanOrEqual(id);
  });

  it("comes to the last id of all within three drains, when nothing is in flight", async () => {
    const { db, store } = database();
    const leader = await lead(db);

    await eventually(async () => {
      await store.append(randomUUID(), notes(1), { expectedSeq: 0 });
      for (let drains = 0; drains < 3; drains += 1) await leader.drain();
      expect((await readLease(db)).floor_id).toBe(await lastId(db));
      expect(await hasOutbox(db)).toBe(false);
    });
  });

  it("gives a drain nothing to do while a transaction holds it back, and something when that has ended", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    await using tx = await openTransaction(db);
    await appendIn(tx, randomUUID(), notes(1), 0);
    await store.append(randomUUID(), notes(1), { expectedSeq: 0 });
    for (let drains = 0; drains < 4; drains += 1) await leader.drain();
    expect(await hasOutbox(db)).toBe(false);

    await tx.rollback();

    await eventually(async () => expect(await hasOutbox(db)).toBe(true));
    await eventually(async () => {
      await leader.drain();
      expect(await hasOutbox(db)).toBe(false);
    });
  });

  it("rises over ids that were rolled back, without waiting for a time to pass (G1 #7, #19)", async () => {
    const { db } = database();
    const leader = await lead(db);
    await using tx = await openTransaction(db);
    await appendIn(tx, randomUUID(), notes(1), 0);
    await tx.rollback();

    const id = await lastId(db);

    await untilFloor(leader, id);

    expect((await readLease(db)).floor_id).toBeGreaterThanOrEqual(id);
  });

  it("stays below an id that is in flight, however many drains go by (G1 #1)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const late = randomUUID();
    await using tx = await openTransaction(db);
    await appendIn(tx, late, notes(1), 0);
    const held = await lastId(db);
    for (let drains = 0; drains < 5; drains += 1) {
      await store.append(randomUUID(), notes(1), { expectedSeq: 0 });
      await leader.drain();
      await leader.drain();
    }

    expect((await readLease(db)).floor_id).toBeLessThan(held);
    await tx.commit();
    await leader.drain();
    expect(await fedSeqs(db, late)).toEqual([0]);
  });

  it("stays below an id in flight though its transaction began after the one with the higher id (G1 #1, #4)", async () => {
    const { db } = database();
    const leader = await lead(db);
    const fed: (readonly number[])[] = [];
    // Several rounds: transactions of other tests that end between the appends and the drain hide a wrong floor.
    for (let round = 0; round < 40; round += 1) {
      const id = randomUUID();
      await using first = await openTransaction(db);
      await using second = await openTransaction(db);
      await first.rows({ text: "select pg_current_xact_id()::text" });
      await appendIn(second, id, notes(1), 0);
      const higher = appendIn(first, randomUUID(), notes(1), 0);
      await Promise.all([higher, first.commit()]);
      for (let drains = 0; drains < 4; drains += 1) await leader.drain();
      await second.commit();
      await leader.drain();
      fed.push(await fedSeqs(db, id));
    }

    expect(fed).toEqual(Array.from({ length: 40 }, () => [0]));
  });

  it("does not stand still in a copy whose transaction ids begin anew, nor does a drain (G1 #17)", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await leader.drain();
    await db.rows({
      text: "update turnlog.lease set next_floor_xid = 9000000000000000",
    });
    await store.append(id, notes(1), { expectedSeq: 1 });

    await leader.drain();

    expect(await fedSeqs(db, id)).toEqual([0, 1]);
    await untilFloor(leader, await lastId(db));
  });

  it("is not raised over what a drain left because of its limit", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    await leader.drain();
    const ids = Array.from({ length: 9 }, () => randomUUID());
    for (const id of ids) await store.append(id, notes(1), { expectedSeq: 0 });

    for (let drains = 0; drains < 9; drains += 1) await leader.drain(1);

    const fed = await Promise.all(ids.map((id) => fedSeqs(db, id)));
    expect(fed).toEqual(ids.map(() => [0]));
  });
});
