import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { SessionId } from "../../src/events/ids.ts";
import type { SessionHandler } from "../../src/queue/queue.ts";
import { createPostgresQueue } from "../../src/queue/postgres/postgres-queue.ts";
import { useTestDatabase } from "../support/database.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";
import {
  connectAs,
  connectionsOf,
  killConnections,
} from "../support/relay-steps.ts";
import { eventually, gate } from "../support/relay-waiting.ts";

const database = useTestDatabase();

beforeEach(() => database().db.rows({ text: "delete from turnlog.work" }));

/** Puts sessions on the work list, as a drain does, and rings for nobody. */
async function addWork(count: number): Promise<SessionId[]> {
  const ids = Array.from({ length: count }, () => SessionId(randomUUID()));
  await database().db.rows(
    {
      text: `
        insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
        select id, 1, clock_timestamp(), clock_timestamp() from unnest($1::text[]) as id`,
    },
    [ids],
  );
  return ids;
}

async function setClaim(id: string, seconds: number): Promise<void> {
  await database().db.rows(
    {
      text: "update turnlog.work set claimed_until = clock_timestamp() + make_interval(secs => $2) where session_id = $1",
    },
    [id, seconds],
  );
}

async function claimedFor(id: string): Promise<number> {
  const [row] = await database().db.rows<{ seconds: number }>(
    {
      text: "select extract(epoch from claimed_until - clock_timestamp())::float8 as seconds from turnlog.work where session_id = $1",
    },
    [id],
  );
  return row?.seconds ?? 0;
}

/** A handler that writes down what it gets, and is done. */
function noting(handled: string[]): SessionHandler {
  return (id) => {
    handled.push(id);
    return Promise.resolve();
  };
}

function expectHandled(
  handled: readonly string[],
  ids: readonly string[],
): Promise<void> {
  return eventually(() => expect(handled.toSorted()).toEqual(ids.toSorted()));
}

async function untilListening(db: Db, name: string): Promise<void> {
  await eventually(async () =>
    expect(await connectionsOf(db, name)).toContain("listen turnlog_work"),
  );
}

describe("the queue on Postgres", () => {
  it("gives each session to one of several claimers (G3 #32, #34)", async () => {
    const { db } = database();
    const handled: string[] = [];
    const queues = [0, 1, 2].map(() => createPostgresQueue(db));
    const ids = await addWork(60);

    for (const queue of queues) queue.run(noting(handled), { concurrency: 4 });

    await expectHandled(handled, ids);
    for (const queue of queues) await queue.close();
    expect(handled).toHaveLength(ids.length);
  });

  it("works on as many sessions at a time as it was told to, and no more", async () => {
    await using queue = createPostgresQueue(database().db);
    const go = gate();
    const handled: string[] = [];
    let inHand = 0;
    let most = 0;
    const ids = await addWork(20);

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

    await eventually(() => expect(inHand).toBe(3));
    go.open();
    await expectHandled(handled, ids);
    expect(most).toBe(3);
  });

  it("goes on with the next session as soon as one is done", async () => {
    await using queue = createPostgresQueue(database().db);
    const stuck = gate();
    const handled: string[] = [];
    const [first, ...others] = await addWork(12);

    queue.run(
      async (id) => {
        if (id === first) await stuck.opened;
        handled.push(id);
      },
      { concurrency: 2 },
    );

    await expectHandled(handled, others);
    stuck.open();
  });

  it("finds work that nobody rings for (G2 #26, #28)", async () => {
    await using queue = createPostgresQueue(database().db);
    const handled: string[] = [];
    queue.run(noting(handled), { concurrency: 1 });

    const ids = await addWork(2);

    await expectHandled(handled, ids);
  });

  it("makes a session that is claimed due again each time it is rung for (G3 #36)", async () => {
    await using queue = createPostgresQueue(database().db);
    const handled: string[] = [];
    const [id] = await addWork(1);
    if (id === undefined) return;
    queue.run(noting(handled), { concurrency: 1 });
    await expectHandled(handled, [id]);
    expect(await claimedFor(id)).toBeGreaterThan(10);

    await queue.ring([id]);

    await expectHandled(handled, [id, id]);
    await queue.ring([id]);
    await expectHandled(handled, [id, id, id]);
  });

  it("rings for sessions that have no work, and for none, without harm", async () => {
    await using queue = createPostgresQueue(database().db);

    await queue.ring([]);
    await queue.ring([SessionId("nobody")]);

    expect(
      await database().db.rows({ text: "select from turnlog.work" }),
    ).toEqual([]);
  });

  it("leaves a claimed session to its claimer", async () => {
    await using queue = createPostgresQueue(database().db);
    const handled: string[] = [];
    const [claimed = "", free = ""] = await addWork(2);
    await setClaim(claimed, 600);

    queue.run(noting(handled), { concurrency: 2 });

    await expectHandled(handled, [free]);
    expect(await claimedFor(claimed)).toBeGreaterThan(500);
  });

  it("passes over a session that another claimer is about to take, without waiting", async () => {
    const { db } = database();
    await using queue = createPostgresQueue(db);
    const handled: string[] = [];
    const [taken = "", ...free] = await addWork(3);
    await using tx = await openTransaction(db);
    await tx.rows(
      { text: "select from turnlog.work where session_id = $1 for update" },
      [taken],
    );

    queue.run(noting(handled), { concurrency: 3 });

    await expectHandled(handled, free);
    await tx.rollback();
    await expectHandled(handled, [taken, ...free]);
  });

  it("takes over a session whose claimer died, once the claim has run out (G2 #29)", async () => {
    await using queue = createPostgresQueue(database().db);
    const handled: string[] = [];
    const [id = ""] = await addWork(1);
    await setClaim(id, 600);
    queue.run(noting(handled), { concurrency: 1 });

    await setClaim(id, -1);

    await expectHandled(handled, [id]);
  });

  it("waits for the sessions in hand when it is closed, and takes no more", async () => {
    const { db } = database();
    const queue = createPostgresQueue(db);
    const go = gate();
    const begun: string[] = [];
    const ended: string[] = [];
    await addWork(5);
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
    await db.rows({ text: "select" });
    expect(isClosed).toBe(false);
    go.open();
    await closing;

    expect(ended).toEqual(begun);
    expect(begun).toHaveLength(2);
  });

  it("lets go of its connections when it is closed", async () => {
    const { db, url } = database();
    const queueDb = connectAs(url, "queue-closed");
    const queue = createPostgresQueue(queueDb);
    queue.run(() => Promise.resolve(), { concurrency: 1 });
    await untilListening(db, "queue-closed");

    await queue.close();
    await queueDb.close();

    await eventually(async () =>
      expect(await connectionsOf(db, "queue-closed")).toEqual([]),
    );
  });

  it("goes on after its connections were killed (G2 #21, #28)", async () => {
    const { db, url } = database();
    await using queueDb = connectAs(url, "queue-victim");
    await using queue = createPostgresQueue(queueDb);
    const handled: string[] = [];
    queue.run(noting(handled), { concurrency: 2 });
    await untilListening(db, "queue-victim");
    const before = await addWork(1);
    await expectHandled(handled, before);

    expect(await killConnections(db, "queue-victim")).toBeGreaterThanOrEqual(2);
    const after = await addWork(2);

    await expectHandled(handled, [...before, ...after]);
  });

  it("goes on after a handler that rejects or throws, tells of it, and does not hammer (G2 #20)", async () => {
    const errors: unknown[] = [];
    await using queue = createPostgresQueue(database().db, (error) =>
      errors.push(error),
    );
    const handled: string[] = [];
    const [bad, worse, ...good] = await addWork(6);
    queue.run(
      (id) => {
        handled.push(id);
        if (id === bad) return Promise.reject(new Error("rejected"));
        if (id === worse) throw new Error("thrown");
        return Promise.resolve();
      },
      { concurrency: 1 },
    );

    await eventually(() =>
      expect(handled).toEqual(expect.arrayContaining(good)),
    );

    expect(errors).toEqual([new Error("rejected"), new Error("thrown")]);
    expect(handled).toHaveLength(6);
  });

  it("tells when the table can't be read, and goes on when it can be", async () => {
    const { db } = database();
    const errors: unknown[] = [];
    const handled: string[] = [];
    await using queue = createPostgresQueue(db, (error) => errors.push(error));
    await db.rows({ text: "alter table turnlog.work rename to work_away" });
    queue.run(noting(handled), { concurrency: 1 });
    await eventually(() => expect(errors.length).toBeGreaterThan(0));

    await db.rows({ text: "alter table turnlog.work_away rename to work" });

    await expectHandled(handled, await addWork(1));
  });
});
