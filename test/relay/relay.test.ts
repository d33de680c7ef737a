import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { SessionId } from "../../src/events/ids.ts";
import { silentLogger } from "../../src/logger.ts";
import { takeLease } from "../../src/relay/lease.ts";
import { startRelay, type RelayOptions } from "../../src/relay/relay.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import { recordingQueue } from "../support/relay-recording-queue.ts";
import { appendIn } from "../support/relay-open-transaction.ts";
import {
  connectAs,
  connectionsOf,
  endLease,
  fedSeqs,
  killConnections,
  readLease,
  usurpLease,
} from "../support/relay-steps.ts";
import { eventually } from "../support/relay-waiting.ts";

const database = useTestDatabase();
const NEVER_MS = 600_000;

/** A relay over connections of its own name; disposing of it closes both. */
async function relayOf(
  given: Partial<Omit<RelayOptions, "db">> = {},
  name = `relay-${randomUUID()}`,
) {
  await endLease(database().db);
  const db = connectAs(database().url, name);
  const relay = startRelay({
    db,
    queue: recordingQueue(),
    logger: silentLogger,
    ...given,
  });
  return {
    name,
    relay,
    async [Symbol.asyncDispose]() {
      await relay.close();
      await db.close();
    },
  };
}

/** Appends to a new session without notifying anybody. */
async function appendSilently(): Promise<string> {
  const id = randomUUID();
  await appendIn(database().db, id, notes(1), 0);
  return id;
}

async function expectFed(id: string): Promise<void> {
  const { db } = database();
  await eventually(async () => expect(await fedSeqs(db, id)).toEqual([0]));
}

async function untilLedBy(isNot: string | null): Promise<string | null> {
  const { db } = database();
  return eventually(async () => {
    const { holder, is_free: isFree } = await readLease(db);
    expect(isFree).toBe(false);
    expect(holder).not.toBe(isNot);
    return holder;
  });
}

async function untilListening(name: string): Promise<void> {
  const { db } = database();
  await eventually(async () =>
    expect(await connectionsOf(db, name)).toContain("listen turnlog_outbox"),
  );
}

describe("a relay", () => {
  it("drains when it is notified, long before it would look by itself", async () => {
    const { store } = database();
    await using running = await relayOf({ pollMs: NEVER_MS });
    await untilListening(running.name);
    await untilLedBy(null);
    const id = randomUUID();

    await store.append(id, notes(1), { expectedSeq: 0 });

    await expectFed(id);
  });

  it("drains though nobody notifies it (G2 #28, #30)", async () => {
    await using _running = await relayOf({ pollMs: 20 });

    const id = await appendSilently();

    await expectFed(id);
  });

  it("looks by itself for a while after a drain, since appenders notify seldom then", async () => {
    const { store } = database();
    await using running = await relayOf({ pollMs: NEVER_MS });
    await untilListening(running.name);
    await untilLedBy(null);
    const first = randomUUID();
    await store.append(first, notes(1), { expectedSeq: 0 });
    await expectFed(first);

    const second = await appendSilently();

    await expectFed(second);
  });

  it("drains what was appended while it was away (G2 #27)", async () => {
    const id = await appendSilently();

    await using _running = await relayOf({ pollMs: NEVER_MS });

    await expectFed(id);
  });

  it("rings for the sessions it drained, after the commit (G3 #37)", async () => {
    const { db } = database();
    const queue = recordingQueue();
    const seen: Promise<readonly number[]>[] = [];
    const looking = {
      ...queue,
      ring(ids: readonly SessionId[]) {
        seen.push(...ids.map((id) => fedSeqs(db, id)));
        return queue.ring(ids);
      },
    };
    await using _running = await relayOf({ queue: looking, pollMs: 20 });

    const id = await appendSilently();

    await eventually(() => expect(queue.rung).toContain(id));
    expect(await seen.at(-1)).toEqual([0]);
  });

  it("goes on after its connections were killed (G2 #21, #26, #28)", async () => {
    const { db } = database();
    await using running = await relayOf({ pollMs: 20 });
    await untilListening(running.name);
    await expectFed(await appendSilently());

    const killed = await killConnections(db, running.name);

    expect(killed).toBeGreaterThanOrEqual(2);
    await expectFed(await appendSilently());
  });

  it("hears notifications again after its listening connection was killed (G2 #26, #27)", async () => {
    const { db, store } = database();
    await using running = await relayOf({ pollMs: NEVER_MS });
    await untilListening(running.name);
    await killConnections(db, running.name);
    const between = await appendSilently();
    await expectFed(between);
    const id = randomUUID();

    await store.append(id, notes(1), { expectedSeq: 0 });

    await expectFed(id);
  });

  it("stands by while another one leads", async () => {
    await using _first = await relayOf({ pollMs: 20 });
    const leader = await untilLedBy(null);
    const db = connectAs(database().url, "standby");
    const queue = recordingQueue();
    const standby = startRelay({
      db,
      queue,
      logger: silentLogger,
      pollMs: 20,
    });
    await untilListening("standby");

    const ids = [await appendSilently(), await appendSilently()];
    for (const id of ids) await expectFed(id);

    expect(queue.rung).toEqual([]);
    expect((await readLease(database().db)).holder).toBe(leader);
    await standby.close();
    await db.close();
  });

  it("takes over at once from one that is closed", async () => {
    const first = await relayOf({ pollMs: 20, ttlMs: NEVER_MS });
    const leader = await untilLedBy(null);
    const db = connectAs(database().url, "successor");
    const second = startRelay({
      db,
      queue: recordingQueue(),
      logger: silentLogger,
      pollMs: 20,
      ttlMs: NEVER_MS,
    });

    await first[Symbol.asyncDispose]();

    await untilLedBy(leader);
    await expectFed(await appendSilently());
    await second.close();
    await db.close();
  });

  it("takes over from one that died, when its time is over (G2 #29)", async () => {
    const { db } = database();
    await endLease(db);
    const dead = randomUUID();
    const fence = await takeLease(db, dead, 300);
    const relayDb = connectAs(database().url, "heir");
    const relay = startRelay({
      db: relayDb,
      queue: recordingQueue(),
      logger: silentLogger,
      pollMs: 20,
    });

    await untilLedBy(dead);

    expect((await readLease(db)).fence).toBe((fence ?? 0) + 1);
    await expectFed(await appendSilently());
    await relay.close();
    await relayDb.close();
  });

  it("stops leading when another one took over meanwhile, and drains nothing more (G3 #31)", async () => {
    const { db } = database();
    await using running = await relayOf({ pollMs: 10 });
    await expectFed(await appendSilently());
    const usurper = await usurpLease(db);

    const id = await appendSilently();
    await eventually(async () => {
      const [last] = await connectionsOf(db, running.name, "turnlog.");
      expect(last).toContain("lead_v1");
    });

    expect(await fedSeqs(db, id)).toEqual([]);
    expect((await readLease(db)).holder).toBe(usurper);
  });

  it("drains on while the queue can't be rung (G3 #36)", async () => {
    const queue = recordingQueue();
    queue.setBroken(true);
    await using _running = await relayOf({ queue, pollMs: 20 });

    const ids = [];
    for (let count = 0; count < 3; count += 1) {
      const id = await appendSilently();
      await expectFed(id);
      ids.push(id);
    }

    expect(queue.refused()).toBeGreaterThanOrEqual(ids.length);
    expect(queue.rung).toEqual([]);
  });

  it("rings later for what could not be rung for (G2 #29, G3 #36)", async () => {
    const { db } = database();
    const queue = recordingQueue();
    queue.setBroken(true);
    await using _running = await relayOf({ queue, pollMs: 20 });
    const id = await appendSilently();
    await expectFed(id);
    queue.setBroken(false);

    await db.rows(
      {
        text: "update turnlog.work set ring_at = clock_timestamp() where session_id = $1",
      },
      [id],
    );

    await eventually(() => expect(queue.rung).toContain(id));
  });

  it("is closed promptly, gives the lease up and leaves no connection in use", async () => {
    const { db } = database();
    const running = await relayOf({ pollMs: NEVER_MS, ttlMs: NEVER_MS });
    await untilListening(running.name);
    await untilLedBy(null);
    const startedAt = performance.now();

    await running.relay.close();

    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect((await readLease(db)).is_free).toBe(true);
    await eventually(async () =>
      expect(await connectionsOf(db, running.name, "listen")).toEqual([]),
    );
    await running[Symbol.asyncDispose]();
    await eventually(async () =>
      expect(await connectionsOf(db, running.name)).toEqual([]),
    );
  });

  it("can be closed while the database is away", async () => {
    const name = `relay-${randomUUID()}`;
    const db = connectAs("postgres://nobody@127.0.0.1:1/none", name);
    const warnings: string[] = [];
    const logger = {
      ...silentLogger,
      warn: (_fields: object, message: string) => warnings.push(message),
    };
    const relay = startRelay({ db, queue: recordingQueue(), logger });
    await eventually(() => expect(warnings.length).toBeGreaterThan(0));

    await relay.close();

    await db.close();
    expect(warnings[0]).toContain("tries again");
  });
});
