import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { SessionBusyError } from "../../src/errors.ts";
import { SessionId } from "../../src/events/ids.ts";
import { startHeartbeat } from "../../src/writer/heartbeat.ts";
import { openHold, releaseHold } from "../../src/writer/hold.ts";
import type { SessionWriter } from "../../src/writer/session-writer.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, notes, openStep } from "../support/events.ts";

const database = useTestDatabase();
const LONG_MS = 600_000;

/** A session with one event that nobody holds. */
async function storedSession(): Promise<string> {
  const id = randomUUID();
  await database().store.append(id, notes(1), { expectedSeq: 0 });
  return id;
}

/** Ends the hold of a writer as its time would, without its noticing. */
async function expireHold(id: string): Promise<void> {
  await database().db.rows(
    {
      text: "update turnlog.sessions set writer_until = clock_timestamp() where session_id = $1",
    },
    [id],
  );
}

async function holdOf(id: string) {
  const [row] = await database().db.rows<{ epoch: number; alive: boolean }>(
    {
      text: `
        select writer_epoch as epoch, coalesce(writer_until > clock_timestamp(), false) as alive
        from turnlog.sessions
        where session_id = $1`,
    },
    [id],
  );
  return row;
}

function codeOf(writer: SessionWriter): Promise<string> {
  return writer.append(notes(1)).then(
    () => "stored",
    (error: { code: string }) => error.code,
  );
}

describe("a session whose writer is alive", () => {
  it("is busy for others, and the error says for how long", async () => {
    const { store } = database();
    const id = await storedSession();
    await using _writer = await store.open(id, { holdMs: LONG_MS });

    const second = store.open(id);

    await expect(second).rejects.toMatchObject({
      code: "SESSION_BUSY",
      sessionId: id,
      retryable: true,
    });
    const error: unknown = await second.catch((thrown: unknown) => thrown);
    const { aliveMs } = error instanceof SessionBusyError ? error : {};
    expect(aliveMs).toBeGreaterThan(LONG_MS / 2);
    expect(aliveMs).toBeLessThanOrEqual(LONG_MS);
    expect(await holdOf(id)).toEqual({ epoch: 1, alive: true });
  });

  it("is held by the writer that creates it, from its first commit on", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    await writer.append(notes(1));

    await expect(store.open(id)).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
    expect(await holdOf(id)).toEqual({ epoch: 0, alive: true });
  });

  it("stays held while its writer is idle, by the heartbeat", async () => {
    const { store } = database();
    const id = await storedSession();
    await using _writer = await store.open(id, { holdMs: 60 });
    await expireHold(id);

    await expect.poll(() => holdOf(id)).toEqual({ epoch: 1, alive: true });
  });

  it("is not repaired, and shows its open turn", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    await writer.append(openStep());

    expect(await store.inspect(id)).toMatchObject({
      isWriterAlive: true,
      closers: [],
    });
    await expect(store.open(id)).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
    expect(await collect(store, id)).toHaveLength(2);
  });
});

describe("a writer that was taken over", () => {
  it("is fenced off at its next append, and stores nothing (G4 #49)", async () => {
    const { store } = database();
    const id = await storedSession();
    const first = await store.open(id, { holdMs: LONG_MS });
    await using second = await store.open(id, { takeOver: true });
    const before = (await collect(store, id)).length;

    const failing = first.append([note("late")]);

    await expect(failing).rejects.toMatchObject({
      code: "WRITER_FENCED",
      epoch: 2,
      retryable: false,
    });
    await expect(
      first.write("feedback/record", { text: "later" }),
    ).rejects.toMatchObject({ code: "WRITER_FENCED" });
    await first.close();
    expect(await collect(store, id)).toHaveLength(before);
    expect(await codeOf(second)).toBe("stored");
  });

  it("is told by its heartbeat, though it writes nothing", async () => {
    const { store } = database();
    const id = await storedSession();
    await using first = await store.open(id, { holdMs: 60 });
    await store.takeOver(id);

    await expect
      .poll(() =>
        first.flush().then(
          () => null,
          (error: { code: string }) => error.code,
        ),
      )
      .toBe("WRITER_FENCED");
  });

  it("does not take the hold away from its successor when it closes", async () => {
    const { store } = database();
    const id = await storedSession();
    const first = await store.open(id);
    await using _second = await store.open(id, { takeOver: true });

    await first.close();

    expect(await holdOf(id)).toEqual({ epoch: 2, alive: true });
  });

  it("is fenced off by takeOver, which holds the session for nobody and says where it ends", async () => {
    const { store } = database();
    const id = await storedSession();
    const first = await store.open(id, { holdMs: LONG_MS });

    const { head, epoch } = await store.takeOver(id);

    expect({ head, epoch }).toEqual({ head: 2, epoch: 2 });
    expect(await holdOf(id)).toEqual({ epoch: 2, alive: false });
    expect(await codeOf(first)).toBe("WRITER_FENCED");
    expect((await store.session(id)).head).toBe(head);
  });
});

describe("two writers of one session", () => {
  it("of which the hold of one has run out: exactly one continues", async () => {
    const { store } = database();
    const id = await storedSession();
    const slow = await store.open(id, { holdMs: LONG_MS });
    await expireHold(id);
    const [one, other] = await Promise.allSettled([
      store.open(id),
      store.open(id),
    ]);

    const opened = [one, other].flatMap((result) =>
      result?.status === "fulfilled" ? [result.value] : [],
    );
    expect(opened).toHaveLength(1);
    const codes = await Promise.all([slow, ...opened].map(codeOf));
    expect(codes).toEqual(["WRITER_FENCED", "stored"]);
    await Promise.all([slow, ...opened].map((writer) => writer.close()));
  });

  it("goes on after its hold has run out, if nobody has come", async () => {
    const { store } = database();
    const id = await storedSession();
    await using writer = await store.open(id);
    await expireHold(id);

    expect(await codeOf(writer)).toBe("stored");
    expect(await holdOf(id)).toEqual({ epoch: 1, alive: true });
  });

  it("gets a conflict when somebody appends without being a writer, and is at its end", async () => {
    const { store } = database();
    const id = await storedSession();
    const writer = await store.open(id);
    await store.append(id, [note("a stranger's")], { expectedSeq: "any" });

    const codes = [await codeOf(writer), await codeOf(writer)];

    expect(codes).toEqual(["WRONG_EXPECTED_SEQ", "WRONG_EXPECTED_SEQ"]);
    await writer.close();
    await using again = await store.open(id);
    expect(await codeOf(again)).toBe("stored");
  });
});

describe("a writer that closes while its heart beats", () => {
  it("waits for the beat, so that the session is not held again", async () => {
    const { db } = database();
    const id = SessionId(await storedSession());
    const hold = await openHold(db, id, false, LONG_MS);
    let isStopped = false;

    const stopping = await db.transaction(async (tx) => {
      await tx.rows(
        {
          text: "select from turnlog.sessions where session_id = $1 for update",
        },
        [id],
      );
      const heartbeat = startHeartbeat(db, hold, 30, () => undefined);
      await expect
        .poll(() =>
          db.rows({
            text: `
              select
              from pg_stat_activity
              where wait_event_type = 'Lock' and query like '%hold_writer_v1%'
                and datname = current_database()`,
          }),
        )
        .toHaveLength(1);
      const stop = heartbeat.stop().then(() => (isStopped = true));
      await setImmediate();
      expect(isStopped).toBe(false);
      return { stop };
    });
    await stopping.stop;
    await releaseHold(db, hold);

    expect((await database().store.inspect(id)).isWriterAlive).toBe(false);
  });
});

describe("opening", () => {
  it.each(["open", "takeOver"] as const)(
    "(%s) what is not there says so",
    async (call) => {
      await expect(database().store[call]("nobody")).rejects.toMatchObject({
        code: "SESSION_NOT_FOUND",
      });
    },
  );

  it.each(["open", "takeOver", "create"] as const)(
    "(%s) what was deleted says so",
    async (call) => {
      const { store, db } = database();
      const id = await storedSession();
      await db.rows(
        {
          text: "update turnlog.sessions set deleted_at = now() where session_id = $1",
        },
        [id],
      );

      await expect(store[call](id)).rejects.toMatchObject({
        code: "SESSION_DELETED",
      });
    },
  );
});
