import { describe, expect, it } from "vitest";
import { SessionId } from "../../src/events/ids.ts";
import { silentLogger } from "../../src/logger.ts";
import { projectSession } from "../../src/projector/project-session.ts";
import { sweepWork } from "../../src/relay/sweep.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes } from "../support/events.ts";
import {
  failing,
  repaired,
  useFailingProjections,
} from "../support/projector-failing.ts";
import {
  changeLog,
  checkpointOf,
  fold,
  foldFully,
} from "../support/projector-steps.ts";
import { lead, workOf } from "../support/relay-steps.ts";

const database = useTestDatabase();
const { appendNotes, columnOf, endPause, failUntilParked } =
  useFailingProjections(database);

describe.each([
  ["an event that a fold throws at", "throwing", "throw", "RangeError"],
  ["a row that the database refuses", "refused", "NUL", "22021"],
])("%s", (_what, name, poison, errorCode) => {
  it("keeps the rows before it, and what failed where (G5 #53, #57)", async () => {
    const { db } = database();
    const id = await appendNotes("a", "b", poison, "c", poison, "d");

    await foldFully(db, id, failing);

    expect(await columnOf(name, id)).toEqual(["a", "b"]);
    expect(await checkpointOf(db, id, name)).toMatchObject({
      next_seq: 2,
      attempts: 1,
      error_code: errorCode,
      error_seq: 2,
      is_parked: false,
    });
  });

  it("does not hold the other builds up (G5 #56)", async () => {
    const { db } = database();
    const id = await appendNotes("a", poison, "c");

    await foldFully(db, id, failing);

    expect(await columnOf("steady", id)).toEqual(["a", poison, "c"]);
    for (const { name: other } of failing.filter((one) => one.name !== name))
      expect(await checkpointOf(db, id, other), other).toMatchObject({
        next_seq: 3,
        attempts: 0,
        error_code: null,
      });
  });

  it("is found in a few calls, however long the session is", async () => {
    const { db } = database();
    const texts = Array.from({ length: 100 }, (_, at) => `note ${at}`);
    const id = await appendNotes(...texts.with(80, poison));

    const calls = await foldFully(db, id, failing);

    expect(await columnOf(name, id)).toEqual(texts.slice(0, 80));
    expect(await checkpointOf(db, id, name)).toMatchObject({ error_seq: 80 });
    expect(calls).toBeLessThan(10);
  });

  it("is tried again when its pause is over, and not before", async () => {
    const { db } = database();
    const id = await appendNotes("a", poison, "c");
    await foldFully(db, id, failing);

    await foldFully(db, id, repaired);
    expect(await columnOf(name, id)).toEqual(["a"]);
    await endPause(id);
    await foldFully(db, id, repaired);

    expect(await columnOf(name, id)).toEqual(["a", poison, "c"]);
    expect(await checkpointOf(db, id, name)).toEqual({
      next_seq: 3,
      attempts: 0,
      error_code: null,
      error_seq: null,
      retry_in: null,
      is_parked: false,
    });
  });

  it("leaves nothing of itself in rows or state (G5 #57)", async () => {
    const { db } = database();
    const id = await appendNotes("a", poison, "c");
    await foldFully(db, id, failing);
    await endPause(id);
    await foldFully(db, id, failing);
    await endPause(id);

    await foldFully(db, id, repaired);

    expect(await columnOf(name, id, "earlier")).toEqual([0, 1, 2]);
  });

  it("is tried 8 times with growing pauses, then parked", async () => {
    const { db } = database();
    const id = await appendNotes("a", poison);
    const pauses: (number | null)[] = [];
    for (let attempts = 1; attempts <= 8; attempts += 1) {
      await foldFully(db, id, failing);
      const checkpoint = await checkpointOf(db, id, name);
      expect(checkpoint?.attempts).toBe(attempts);
      const seconds = checkpoint?.retry_in ?? null;
      pauses.push(seconds === null ? null : Math.round(seconds));
      await endPause(id);
    }

    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, null]);
    expect(await checkpointOf(db, id, name)).toMatchObject({
      next_seq: 1,
      error_seq: 1,
      error_code: errorCode,
      is_parked: true,
    });
  });

  it("leaves no work and no loop once it is parked (G2 #20)", async () => {
    const { db } = database();
    const id = await appendNotes("a", poison);

    await failUntilParked(id);

    expect(await workOf(db, id)).toBeNull();
    expect(await fold(db, id, failing)).toBe(false);
    expect(await sweepWork(db, 1_000)).not.toContain(id);
    expect((await checkpointOf(db, id, name))?.attempts).toBe(8);
  });

  it("stays parked while the other builds go on with new events (G5 #56)", async () => {
    const { db, store } = database();
    const id = await appendNotes("a", poison);
    await failUntilParked(id);
    const leader = await lead(db);
    await store.append(id, notes(2), { expectedSeq: 2 });
    await leader.drain();

    await foldFully(db, id, failing);

    expect(await columnOf(name, id)).toEqual(["a"]);
    expect(await columnOf("steady", id)).toHaveLength(4);
    expect(await workOf(db, id)).toBeNull();
  });

  it("puts nothing of the session into checkpoint or log", async () => {
    const { db } = database();
    const id = await appendNotes("my secret", poison);
    const said: object[] = [];
    const logger = {
      ...silentLogger,
      error: (fields: object) => said.push(fields),
    };

    while (
      await projectSession({ db, projections: failing, logger }, SessionId(id))
    );

    expect(said).toEqual([
      {
        session_id: id,
        projection: name,
        version: 1,
        build: expect.any(Number),
        seq: 1,
        error_code: errorCode,
      },
    ]);
  });
});

describe("two builds that fail at different events", () => {
  it("each keep what they have, and a third one is not held up", async () => {
    const { db } = database();
    const id = await appendNotes("a", "throw", "b", "NUL", "c");

    await foldFully(db, id, failing);

    expect(await columnOf("throwing", id)).toEqual(["a"]);
    expect(await columnOf("refused", id)).toEqual(["a", "throw", "b"]);
    expect(await columnOf("steady", id)).toHaveLength(5);
    expect(await checkpointOf(db, id, "throwing")).toMatchObject({
      error_seq: 1,
    });
    expect(await checkpointOf(db, id, "refused")).toMatchObject({
      error_seq: 3,
    });
  });
});

describe("a failure of a kind that has a code of ours", () => {
  it("is counted and parked like any other", async () => {
    const { db } = database();
    const id = await appendNotes("a", "throw ours", "c");

    await foldFully(db, id, failing);

    expect(await columnOf("steady", id)).toHaveLength(3);
    expect(await checkpointOf(db, id, "throwing")).toMatchObject({
      next_seq: 1,
      attempts: 1,
      error_code: "LOG_CORRUPT",
      error_seq: 1,
    });
  });
});

describe("an event that can't be read", () => {
  it("is counted for the builds that want it", async () => {
    const { db } = database();
    const id = await appendNotes("a", "b", "c");
    await changeLog(db, id, [
      "update turnlog.events set payload = '{' where session_id = $1 and seq = 1",
    ]);

    await foldFully(db, id, failing);

    expect(await columnOf("steady", id)).toEqual(["a"]);
    for (const name of ["steady", "sessions"])
      expect(await checkpointOf(db, id, name), name).toMatchObject({
        next_seq: 1,
        attempts: 1,
        error_seq: 1,
      });
    expect(await checkpointOf(db, id, "titles")).toMatchObject({
      next_seq: 3,
      attempts: 0,
    });
  });
});
