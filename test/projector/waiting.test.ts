import { describe, expect, it } from "vitest";
import { ProjectionParkedError, WaitTimeoutError } from "../../src/errors.ts";
import { SessionId } from "../../src/events/ids.ts";
import { waitForSeq } from "../../src/query/wait-for.ts";
import { useTestDatabase } from "../support/database.ts";
import {
  failing,
  useFailingProjections,
} from "../support/projector-failing.ts";
import { foldFully } from "../support/projector-steps.ts";

const database = useTestDatabase();
const { appendNotes, failUntilParked } = useFailingProjections(database);

/** Waits for an event of a session with three notes. */
function wait(id: string, seq: number, timeoutMs: number): Promise<void> {
  return waitForSeq(database().db, {
    sessionId: SessionId(id),
    seq,
    factsHead: 3,
    projections: ["throwing", "steady"],
    timeoutMs,
  });
}

describe("waiting for an event", () => {
  it("rejects at once where the projection is parked before it", async () => {
    const id = await appendNotes("a", "throw", "c");
    await failUntilParked(id);
    const startedAt = performance.now();

    const waiting = wait(id, 2, 60_000);

    await expect(waiting).rejects.toBeInstanceOf(ProjectionParkedError);
    await expect(waiting).rejects.toMatchObject({
      projection: "throwing",
      sessionId: id,
      seq: 1,
      errorCode: "RangeError",
    });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it("resolves for an event before the one where the projection is parked", async () => {
    const id = await appendNotes("a", "throw", "c");
    await failUntilParked(id);

    await expect(wait(id, 0, 5_000)).resolves.toBeUndefined();
  });

  it("times out while the projection may still come to it, and names who is behind (G5 #54)", async () => {
    const { db } = database();
    const id = await appendNotes("a", "throw", "c");
    await foldFully(db, id, failing);

    const waiting = wait(id, 2, 50);

    await expect(waiting).rejects.toBeInstanceOf(WaitTimeoutError);
    await expect(waiting).rejects.toMatchObject({
      sessionId: id,
      behind: ["throwing"],
    });
  });

  it("resolves as soon as the event is there", async () => {
    const { db } = database();
    const id = await appendNotes("a", "b", "c");

    const waiting = wait(id, 2, 30_000);
    await foldFully(db, id, failing);

    await expect(waiting).resolves.toBeUndefined();
  });

  it("does not wait for events beyond the last fact", async () => {
    const { db } = database();
    const id = await appendNotes("a", "b", "c");
    await foldFully(db, id, failing);

    await expect(wait(id, 999, 5_000)).resolves.toBeUndefined();
  });
});
