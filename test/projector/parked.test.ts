import { describe, expect, it } from "vitest";
import { ParkedNotFoundError } from "../../src/errors.ts";
import { SessionId } from "../../src/events/ids.ts";
import {
  listParked,
  readParked,
  retryParked,
  skipParked,
} from "../../src/projector/parked.ts";
import { useTestDatabase } from "../support/database.ts";
import {
  failing,
  repaired,
  useFailingProjections,
} from "../support/projector-failing.ts";
import { checkpointOf, foldFully } from "../support/projector-steps.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";
import { untilBlocked, workOf } from "../support/relay-steps.ts";

const database = useTestDatabase();
const { appendNotes, columnOf, failUntilParked } =
  useFailingProjections(database);

async function parkedPair(...texts: readonly string[]) {
  const { db } = database();
  const id = await appendNotes(...texts);
  await failUntilParked(id);
  const [pair] = await readParked(db, "throwing", SessionId(id));
  if (pair === undefined) throw new Error("nothing was parked");
  return { id, pair };
}

describe("a parked session", () => {
  it("is known by seq, event type, code, attempts and version, and by nothing of its content", async () => {
    const { pair, id } = await parkedPair("my secret", "throw", "c");

    expect(pair).toEqual({
      projection: "throwing",
      version: 1,
      build: expect.any(Number),
      sessionId: id,
      seq: 1,
      eventType: "feedback/record",
      errorCode: "RangeError",
      attempts: 8,
      failedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      parkedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      nextAt: null,
      eventsBehind: 2,
      skipped: [],
    });
  });

  it("is on the list with those that wait for another try, page by page", async () => {
    const { db } = database();
    const { id } = await parkedPair("throw");
    const waiting = await appendNotes("NUL");
    await foldFully(db, waiting, failing);
    const filter = { projection: null, sessionId: null };

    const whole = await listParked(db, { ...filter, limit: 1_000 });
    const [first, ...rest] = whole;
    const next = await listParked(db, {
      ...filter,
      limit: 1_000,
      ...(first === undefined ? {} : { after: first }),
    });

    expect(whole.map(({ sessionId }) => sessionId)).toEqual(
      expect.arrayContaining([id, waiting]),
    );
    expect(next).toEqual(rest);
    expect(
      whole.find(({ sessionId }) => sessionId === waiting)?.nextAt,
    ).not.toBeNull();
  });

  it("goes on in order when it is tried again and the cause is gone (G5 #66)", async () => {
    const { db } = database();
    const { id, pair } = await parkedPair("a", "throw", "c");

    expect(await retryParked(db, pair)).toBe(true);
    expect(await workOf(db, id)).toBe(3);
    await foldFully(db, id, repaired);

    expect(await columnOf("throwing", id)).toEqual(["a", "throw", "c"]);
    expect(await columnOf("throwing", id, "earlier")).toEqual([0, 1, 2]);
    expect(await workOf(db, id)).toBeNull();
    await expect(
      readParked(db, "throwing", SessionId(id)),
    ).rejects.toBeInstanceOf(ParkedNotFoundError);
  });

  it("has all its attempts again when the cause is still there", async () => {
    const { db } = database();
    const { id, pair } = await parkedPair("a", "throw");

    await retryParked(db, pair);
    await foldFully(db, id, failing);

    expect(await checkpointOf(db, id, "throwing")).toMatchObject({
      attempts: 1,
      error_seq: 1,
      is_parked: false,
    });
  });

  it("says since when it fails, over retries", async () => {
    const { db } = database();
    const { id, pair } = await parkedPair("a", "throw");
    await retryParked(db, pair);
    await foldFully(db, id, failing);

    const [again] = await readParked(db, "throwing", SessionId(id));

    expect(again?.failedAt).toBe(pair.failedAt);
  });

  it("passes over the event, and over no other", async () => {
    const { db } = database();
    const { id, pair } = await parkedPair("a", "throw", "c", "throw");

    expect(await skipParked(db, { ...pair, seq: 2 })).toBe(false);
    expect(await skipParked(db, pair)).toBe(true);
    await foldFully(db, id, failing);

    expect(await columnOf("throwing", id)).toEqual(["a", "c"]);
    expect(await columnOf("throwing", id, "earlier")).toEqual([0, 1]);
    const [second] = await readParked(db, "throwing", SessionId(id));
    expect(second).toMatchObject({ seq: 3, skipped: [1] });
  });

  it("leaves the other builds alone", async () => {
    const { db } = database();
    const { id, pair } = await parkedPair("a", "throw", "NUL");

    await skipParked(db, pair);
    await foldFully(db, id, repaired);

    expect(await columnOf("steady", id)).toEqual(["a", "throw", "NUL"]);
    expect(await columnOf("throwing", id)).toEqual(["a", "NUL"]);
  });

  it("waits for a projector that has the session, and does nothing twice", async () => {
    const { db } = database();
    const { id, pair } = await parkedPair("a", "throw");
    await using projector = await openTransaction(db);
    await projector.rows(
      {
        text: "select from turnlog.projection_sessions where session_id = $1 for update",
      },
      [id],
    );

    const retries = Promise.all([retryParked(db, pair), retryParked(db, pair)]);
    await untilBlocked(db, 2);
    await projector.commit();

    expect((await retries).filter(Boolean)).toHaveLength(1);
  });
});
