import { randomUUID } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import { drainOutbox } from "../../src/relay/drain.ts";
import { releaseLease, takeLease } from "../../src/relay/lease.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import { endLease, lead, readFeed, readLease } from "../support/relay-steps.ts";
import { eventually } from "../support/relay-waiting.ts";

const database = useTestDatabase();

describe("the lease", () => {
  it("goes to one of several relays that ask at once (G3 #32)", async () => {
    const { db } = database();
    await endLease(db);
    const holders = Array.from({ length: 8 }, () => randomUUID());

    const fences = await Promise.all(
      holders.map((holder) => takeLease(db, holder, 60_000)),
    );

    expect(fences.filter((fence) => fence !== null)).toHaveLength(1);
    expect(holders[fences.findIndex((fence) => fence !== null)]).toBe(
      (await readLease(db)).holder,
    );
  });

  it("is refused to others while it lasts", async () => {
    const { db } = database();
    const leader = await lead(db);

    expect(await takeLease(db, randomUUID(), 60_000)).toBeNull();
    expect(await readLease(db)).toMatchObject({
      holder: leader.holder,
      fence: leader.fence,
    });
  });

  it("goes to another relay with a higher fence when its time is over on the database's clock (G3 #31)", async () => {
    const { db } = database();
    await endLease(db);
    const fence = await takeLease(db, randomUUID(), 250);
    const { until } = await readLease(db);
    const other = randomUUID();

    const taken = await eventually(async () => {
      const next = await takeLease(db, other, 60_000);
      expect(next).not.toBeNull();
      return next;
    });

    const [clock] = await db.rows<{ over: boolean }>(
      { text: "select clock_timestamp() >= $1::timestamptz as over" },
      [until],
    );
    expect(clock?.over).toBe(true);
    expect(taken).toBe((fence ?? 0) + 1);
  });

  it("does not look at the clock of this process", async () => {
    const { db } = database();
    await lead(db);
    vi.useFakeTimers({ now: Date.now() + 86_400_000, toFake: ["Date"] });

    const taken = await takeLease(db, randomUUID(), 60_000);
    vi.useRealTimers();

    expect(taken).toBeNull();
  });

  it("is renewed for its holder with the same fence", async () => {
    const { db } = database();
    const { holder, fence } = await lead(db);
    const { until } = await readLease(db);

    const renewed = await takeLease(db, holder, 120_000);

    expect(renewed).toBe(fence);
    expect((await readLease(db)).until.getTime()).toBeGreaterThan(
      until.getTime() + 30_000,
    );
  });

  it("is renewed with the same fence by a holder that was late, where nobody came between", async () => {
    const { db } = database();
    const { holder, fence } = await lead(db);
    await endLease(db);

    expect(await takeLease(db, holder, 60_000)).toBe(fence);
  });

  it("keeps a former leader from draining, whatever it believes (G3 #31, #35)", async () => {
    const { db, store } = database();
    const former = await lead(db);
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    expect(await former.drain()).toBeNull();
    expect(await readFeed(db, [id])).toEqual([]);
    expect(await leader.drain()).toMatchObject({ sessionIds: [id] });
  });

  it("keeps a leader from draining with the fence it had before it lost the lease and won it back", async () => {
    const { db, store } = database();
    const first = await lead(db);
    await lead(db);
    await endLease(db);
    const fence = await takeLease(db, first.holder, 60_000);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });

    expect(fence).toBe(first.fence + 2);
    expect(await first.drain()).toBeNull();
    expect(
      await drainOutbox(db, {
        holder: first.holder,
        fence: fence ?? 0,
        limit: 10,
        ttlMs: 60_000,
      }),
    ).toMatchObject({ appends: 1 });
  });

  it("is free at once when it was given up", async () => {
    const { db } = database();
    const { holder, fence } = await lead(db);

    await releaseLease(db, holder);

    expect(await takeLease(db, randomUUID(), 60_000)).toBe(fence + 1);
  });

  it("can't be given up by a relay that does not hold it", async () => {
    const { db } = database();
    await lead(db);

    await releaseLease(db, randomUUID());

    expect(await takeLease(db, randomUUID(), 60_000)).toBeNull();
  });
});
