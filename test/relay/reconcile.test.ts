import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { silentLogger } from "../../src/logger.ts";
import { reconcile } from "../../src/relay/reconcile.ts";
import { startRelay } from "../../src/relay/relay.ts";
import { useTestDatabase } from "../support/database.ts";
import { deltas, notes, openStep } from "../support/events.ts";
import { foldFully } from "../support/projector-steps.ts";
import { recordingQueue } from "../support/relay-recording-queue.ts";
import { eventually } from "../support/relay-waiting.ts";
import { endLease, lead, workOf } from "../support/relay-steps.ts";

const database = useTestDatabase();

/** A session that is drained, and whose work row is lost. */
async function forgotten(): Promise<string> {
  const { db, store } = database();
  const id = randomUUID();
  const leader = await lead(db);
  await store.append(id, notes(3), { expectedSeq: 0 });
  await leader.drain();
  await db.rows({ text: "delete from turnlog.work where session_id = $1" }, [
    id,
  ]);
  return id;
}

/** Looks at every session, a few at a time, and returns how many were found. */
async function lookAtAll(limit = 3): Promise<number> {
  let after: string | null = "";
  let found = 0;
  while (after !== null) {
    const step = await reconcile(database().db, after, limit);
    found += step.found;
    after = step.nextAfter;
  }
  return found;
}

describe("the reconciler", () => {
  it("puts sessions on the work list that were never folded and that nobody knows of", async () => {
    const { db } = database();
    const ids = [];
    for (let at = 0; at < 5; at += 1) ids.push(await forgotten());

    expect(await lookAtAll()).toBe(5);

    for (const id of ids) expect(await workOf(db, id)).toBe(3);
    expect(await lookAtAll()).toBe(0);
    for (const id of ids) await foldFully(db, id);
  });

  it("finds one that a single build is behind in", async () => {
    const { db } = database();
    const id = await forgotten();
    await foldFully(db, id);
    await db.rows(
      {
        text: "update turnlog.checkpoints set next_seq = 2 where session_id = $1 and build = 2",
      },
      [id],
    );

    expect(await lookAtAll()).toBe(1);
    expect(await workOf(db, id)).toBe(3);
    await foldFully(db, id);
  });

  it("finds one that was folded before a redaction", async () => {
    const { db } = database();
    const id = await forgotten();
    await foldFully(db, id);
    await db.rows(
      {
        text: "update turnlog.sessions set redaction_generation = 1 where session_id = $1",
      },
      [id],
    );

    expect(await lookAtAll()).toBe(1);
    await foldFully(db, id);
  });

  it("leaves alone what waits in the outbox, what is parked or waits after a failure, what only deltas follow, and what is deleted", async () => {
    const { db, store } = database();
    const [parked, waiting, deleted] = [
      await forgotten(),
      await forgotten(),
      await forgotten(),
    ];
    await lookAtAll();
    for (const id of [parked, waiting, deleted]) await foldFully(db, id);
    for (const [id, column] of [
      [parked, "parked_at"],
      [waiting, "next_at"],
    ] as const)
      await db.rows(
        {
          text: `update turnlog.checkpoints set next_seq = 0, ${column} = now() where session_id = $1 and build = 1`,
        },
        [id],
      );
    await db.rows(
      {
        text: "update turnlog.sessions set deleted_at = now(), facts_head = 9 where session_id = $1",
      },
      [deleted],
    );
    const streamed = randomUUID();
    const leader = await lead(db);
    await store.append(streamed, openStep(), { expectedSeq: 0 });
    await leader.drain();
    await foldFully(db, streamed);
    await store.append(streamed, deltas(["a"]), { expectedSeq: 2 });
    await leader.drain();
    await store.append(randomUUID(), notes(1), { expectedSeq: 0 });

    expect(await lookAtAll()).toBe(0);
  });

  it("runs with the leading relay, and what it finds is rung for (G2 #29)", async () => {
    const { db } = database();
    const id = await forgotten();
    await endLease(db);
    const queue = recordingQueue();

    await using _relay = startRelay({
      db,
      queue,
      logger: silentLogger,
      reconcileMs: 50,
    });

    await eventually(() => {
      expect(queue.rung).toContain(id);
    });
  });
});
