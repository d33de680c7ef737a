import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { sweepWork } from "../../src/relay/sweep.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";
import { lead, workOf } from "../support/relay-steps.ts";

const database = useTestDatabase();

/** Sessions on the work list that should have been folded so many seconds ago, in this order. */
async function overdue(...seconds: readonly number[]): Promise<string[]> {
  const { db, store } = database();
  const leader = await lead(db);
  const ids = [];
  for (const late of seconds) {
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await leader.drain();
    await db.rows(
      {
        text: "update turnlog.work set ring_at = clock_timestamp() - make_interval(secs => $2) where session_id = $1",
      },
      [id, late],
    );
    ids.push(id);
  }
  return ids;
}

/** Seconds until the sweep rings for a session again. */
async function pauseOf(sessionId: string): Promise<number> {
  const [row] = await database().db.rows<{ seconds: number }>(
    {
      text: `
        select round(extract(epoch from ring_at - clock_timestamp()))::int as seconds
        from turnlog.work
        where session_id = $1`,
    },
    [sessionId],
  );
  return row?.seconds ?? 0;
}

describe("a sweep", () => {
  it("names the sessions that are overdue, the oldest first up to its limit", async () => {
    const { db } = database();
    const [newest, oldest, middle] = await overdue(1, 900, 30);

    expect(await sweepWork(db, 1)).toEqual([oldest]);
    expect(await sweepWork(db, 1)).toEqual([middle]);
    expect(await sweepWork(db, 10)).toEqual([newest]);
    expect(await sweepWork(db, 10)).toEqual([]);
  });

  it("leaves alone what was drained just now: its doorbell is on its way", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await leader.drain();

    expect(await sweepWork(db, 100)).not.toContain(id);
  });

  it("waits twice as long each time, and never longer than 64 seconds", async () => {
    const { db } = database();
    const [id = ""] = await overdue(1);
    const pauses = [];
    for (let count = 0; count < 8; count += 1) {
      await db.rows(
        {
          text: "update turnlog.work set ring_at = clock_timestamp() where session_id = $1",
        },
        [id],
      );
      await sweepWork(db, 100);
      pauses.push(await pauseOf(id));
    }

    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 64, 64]);
  });

  it("passes over sessions that another sweep has in hand", async () => {
    const { db } = database();
    const [locked = "", free = ""] = await overdue(60, 30);
    await using tx = await openTransaction(db);
    await tx.rows(
      { text: "select from turnlog.work where session_id = $1 for update" },
      [locked],
    );

    expect(await sweepWork(db, 100)).toEqual([free]);
    await tx.rollback();
    expect(await sweepWork(db, 100)).toEqual([locked]);
  });

  it("puts a session on the list again when the pause after a failed fold is over", async () => {
    const { db } = database();
    const [id = ""] = await overdue(1);
    await db.rows(
      {
        text: `
          insert into turnlog.checkpoints
            (session_id, build, next_seq, incarnation, redaction_generation, state, attempts, next_at)
          select session_id, 1, 0, incarnation, redaction_generation, '', 1, clock_timestamp()
          from turnlog.sessions
          where session_id = $1`,
      },
      [id],
    );
    await db.rows({ text: "delete from turnlog.work where session_id = $1" }, [
      id,
    ]);

    expect(await sweepWork(db, 100)).toEqual([id]);
    expect(await workOf(db, id)).toBe(1);
  });
});
