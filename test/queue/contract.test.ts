import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { SessionId } from "../../src/events/ids.ts";
import type { SessionHandler } from "../../src/queue/queue.ts";
import { useTestDatabase } from "../support/database.ts";
import { queueDrivers } from "../support/queue-drivers.ts";
import { useRedisPrefix } from "../support/redis.ts";
import { eventually, gate } from "../support/relay-waiting.ts";

const database = useTestDatabase();
const prefix = useRedisPrefix();
let store = "";

beforeEach(async () => {
  store = randomUUID();
  await database().db.rows({ text: "delete from turnlog.work" });
});

/** Puts sessions on the work list that nobody takes up unless they are rung for. */
async function addWork(ids: readonly string[]): Promise<SessionId[]> {
  await database().db.rows(
    {
      text: `
        insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
        select id, 1, clock_timestamp(), clock_timestamp() + interval '1 hour' from unnest($1::text[]) as id`,
    },
    [ids],
  );
  return ids.map(SessionId);
}

const newSessions = (count: number) =>
  addWork(Array.from({ length: count }, () => randomUUID()));

async function newSession(): Promise<SessionId> {
  const [id] = await newSessions(1);
  if (id === undefined) throw new Error("no session was made");
  return id;
}

function noting(handled: string[]): SessionHandler {
  return (id) => {
    handled.push(id);
    return Promise.resolve();
  };
}

function timesOf(handled: readonly string[], id: string): number {
  return handled.filter((other) => other === id).length;
}

describe.each(queueDrivers)("the queue on $name", ({ isThere, open }) => {
  const openQueue = (onError: (error: unknown) => void = () => undefined) =>
    open({ db: database().db, prefix, store, onError });

  it.runIf(isThere)(
    "hands over each session that is rung for, and no other",
    async () => {
      await using queue = await openQueue();
      const handled: string[] = [];
      queue.run(noting(handled), { concurrency: 2 });
      const [silent, ...rung] = await newSessions(5);

      await queue.ring(rung);

      await eventually(() =>
        expect(handled.toSorted()).toEqual(rung.toSorted()),
      );
      expect(handled).not.toContain(silent);
    },
  );

  it.runIf(isThere)(
    "takes what was rung for while nobody was there, once for any number of rings",
    async () => {
      await using queue = await openQueue();
      const handled: string[] = [];
      const id = await newSession();
      const last = await newSession();

      for (let count = 0; count < 20; count += 1) await queue.ring([id, id]);
      await queue.ring([last]);
      queue.run(noting(handled), { concurrency: 1 });

      await eventually(() => expect(handled).toContain(last));
      expect(handled).toEqual([id, last]);
    },
  );

  it.runIf(isThere)(
    "hands a session over again when it is rung for after it was handled",
    async () => {
      await using queue = await openQueue();
      const handled: string[] = [];
      const id = await newSession();
      queue.run(noting(handled), { concurrency: 1 });

      for (let times = 1; times <= 5; times += 1) {
        await queue.ring([id]);
        await eventually(() => expect(timesOf(handled, id)).toBe(times));
      }
    },
  );

  it.runIf(isThere)(
    "hands a session over again when it is rung for while it is handled",
    async () => {
      await using queue = await openQueue();
      const go = gate();
      const handled: string[] = [];
      const id = await newSession();
      queue.run(
        async (session) => {
          handled.push(session);
          await go.opened;
        },
        { concurrency: 1 },
      );
      await queue.ring([id]);
      await eventually(() => expect(handled).toEqual([id]));

      await queue.ring([id]);
      await queue.ring([id]);
      go.open();

      await eventually(() => expect(handled.length).toBeGreaterThan(1));
    },
  );

  it.runIf(isThere)(
    "takes any text as a session id: colons, digits, braces, Unicode, 1,024 bytes",
    async () => {
      await using queue = await openQueue();
      const handled: string[] = [];
      const mark = randomUUID();
      const ids = await addWork([
        `a:b:${mark}`,
        "0",
        "0:1",
        "4711",
        `{${mark}}`,
        "-1",
        "constructor",
        `line\nbreak ${mark}`,
        `ü😀 ${mark}`,
        " ",
        "é".repeat(512),
        "x".repeat(1_024),
      ]);
      queue.run(noting(handled), { concurrency: 4 });

      await queue.ring(ids);
      await eventually(() =>
        expect(handled.toSorted()).toEqual(ids.toSorted()),
      );
      await queue.ring(ids);

      await eventually(() =>
        expect(handled.toSorted()).toEqual([...ids, ...ids].toSorted()),
      );
    },
  );

  it.runIf(isThere)(
    "shares the sessions out among several takers, each to one",
    async () => {
      const takers = await Promise.all([1, 2, 3].map(() => openQueue()));
      const handled: string[] = [];
      const ids = await newSessions(60);
      for (const taker of takers)
        taker.run(noting(handled), { concurrency: 3 });

      await takers[0]?.ring(ids);

      await eventually(() =>
        expect(handled.toSorted()).toEqual(ids.toSorted()),
      );
      for (const taker of takers) await taker.close();
      expect(handled).toHaveLength(ids.length);
    },
  );

  it.runIf(isThere)(
    "works on as many sessions at a time as it was told to, and no more",
    async () => {
      await using queue = await openQueue();
      const go = gate();
      const handled: string[] = [];
      let inHand = 0;
      let most = 0;
      const ids = await newSessions(12);
      queue.run(
        async (id) => {
          inHand += 1;
          most = Math.max(most, inHand);
          await go.opened;
          inHand -= 1;
          handled.push(id);
        },
        { concurrency: 3 },
      );

      await queue.ring(ids);

      await eventually(() => expect(inHand).toBe(3));
      go.open();
      await eventually(() =>
        expect(handled.toSorted()).toEqual(ids.toSorted()),
      );
      expect(most).toBe(3);
    },
  );

  it.runIf(isThere)(
    "goes on after a handler that rejects or throws, tells of it, and hands the session over when it is rung for again",
    async () => {
      const errors: unknown[] = [];
      await using queue = await openQueue((error) => errors.push(error));
      const handled: string[] = [];
      const [bad, worse, ...good] = await newSessions(5);
      queue.run(
        (id) => {
          handled.push(id);
          if (id === bad) return Promise.reject(new Error("rejected"));
          if (id === worse) throw new Error("thrown");
          return Promise.resolve();
        },
        { concurrency: 1 },
      );

      await queue.ring([bad, worse, ...good].filter((id) => id !== undefined));
      await eventually(() => expect(handled).toHaveLength(5));
      await queue.ring([bad].filter((id) => id !== undefined));

      await eventually(() => expect(timesOf(handled, bad ?? "")).toBe(2));
      await eventually(() => expect(errors).toHaveLength(3));
      expect(errors).toContainEqual(new Error("thrown"));
    },
  );

  it.runIf(isThere)(
    "waits for the sessions in hand when it is closed, and takes no more",
    async () => {
      const queue = await openQueue();
      const go = gate();
      const begun: string[] = [];
      const ended: string[] = [];
      await queue.ring(await newSessions(5));
      queue.run(
        async (id) => {
          begun.push(id);
          await go.opened;
          ended.push(id);
        },
        { concurrency: 2 },
      );
      await eventually(() => expect(begun).toHaveLength(2));

      let isClosed = false;
      const closing = queue.close().then(() => {
        isClosed = true;
      });
      await database().db.rows({ text: "select" });
      expect(isClosed).toBe(false);
      go.open();
      await closing;

      expect(ended).toEqual(begun);
      expect(begun).toHaveLength(2);
    },
  );

  it.runIf(isThere)("can be rung for nobody, and closed unused", async () => {
    const queue = await openQueue();

    await queue.ring([]);

    await expect(queue.close()).resolves.toBeUndefined();
  });
});
