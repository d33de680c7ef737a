import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { appendLog, expectFolded } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { notes, prompt } from "../support/events.ts";
import {
  changeLog,
  checkpointOf,
  exampleLog,
  fold,
  foldFully,
  schemaOf,
} from "../support/projector-steps.ts";
import type { EventLike, LogLike } from "../support/reference-log.ts";
import { openTransaction } from "../support/relay-open-transaction.ts";
import { lead, workOf, untilBlocked } from "../support/relay-steps.ts";

const database = useTestDatabase();
const long = exampleLog("04-compaction.jsonl");
const short = exampleLog("10-delegated-reading.jsonl");

/** Deletes a session's log; the checkpoints know nothing of it. */
function erase(sessionId: string): Promise<void> {
  return changeLog(database().db, sessionId, [
    "update turnlog.sessions set deleted_at = now() where session_id = $1",
    "delete from turnlog.events where session_id = $1",
    "delete from turnlog.outbox where session_id = $1",
    "delete from turnlog.work where session_id = $1",
  ]);
}

/** Puts another log under the id of a session that was folded and then erased. */
async function recreate(
  sessionId: string,
  events: readonly EventLike[],
): Promise<LogLike> {
  await erase(sessionId);
  const header = { ...short.header, id: sessionId };
  const { version: _version, id, ...given } = header;
  await database().store.append(id, events, {
    expectedSeq: 0,
    recreate: true,
    header: given,
  });
  return { header, events };
}

/** Replaces a word in a session's log and raises its redaction generation. */
function redact(sessionId: string): Promise<void> {
  return changeLog(database().db, sessionId, [
    "update turnlog.events set payload = replace(payload, 'secret', '[gone]') where session_id = $1",
    "update turnlog.sessions set redaction_generation = redaction_generation + 1 where session_id = $1",
  ]);
}

/** A session with two prompts, of which the first is in the tables. */
async function halfFolded(): Promise<string> {
  const { db, store } = database();
  const id = randomUUID();
  await store.append(id, [prompt("one")], { expectedSeq: 0 });
  await foldFully(db, id);
  await store.append(id, [prompt("two")], { expectedSeq: 1 });
  return id;
}

/** Starts the projector, lets it come to the point where it writes, and does something before it can. */
async function foldAround(
  sessionId: string,
  between: () => Promise<unknown>,
): Promise<boolean> {
  const { db } = database();
  await using tx = await openTransaction(db);
  await tx.rows(
    {
      text: `select from ${await schemaOf(db, "sessions")}.sessions where session_id = $1 for update`,
    },
    [sessionId],
  );
  const folding = fold(db, sessionId);
  folding.catch(() => undefined);
  await untilBlocked(db, 1);
  await between();
  await tx.rollback();
  return folding;
}

describe("a session that was deleted and made anew", () => {
  it("is folded from its first event, and the old rows are gone", async () => {
    const { db, store } = database();
    const { header } = await appendLog(store, long, 500);
    await foldFully(db, header.id);

    const log = await recreate(header.id, short.events);
    await foldFully(db, header.id);

    await expectFolded(db, log);
  });

  it("is waited for though the old one was longer, and is as of nothing until then (B117)", async () => {
    const { db, store } = database();
    const { header } = await appendLog(store, long, 500);
    await foldFully(db, header.id);
    await recreate(header.id, short.events);

    const options = { seq: 0, timeoutMs: 0 };
    await expect(store.waitFor(header.id, options)).rejects.toMatchObject({
      code: "WAIT_TIMEOUT",
    });
    expect((await store.messages(header.id)).asOfSeq).toBe(-1);
    await foldFully(db, header.id);
    await store.waitFor(header.id, options);
  });

  it("is folded anew though it is as long as the old one", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, [prompt("old"), ...notes(2)], { expectedSeq: 0 });
    await foldFully(db, id);

    await erase(id);
    await store.append(id, [prompt("new"), ...notes(2)], {
      expectedSeq: 0,
      recreate: true,
    });
    await foldFully(db, id);

    const { rows } = await store.messages(id);
    expect(rows.map(({ text }) => text)).toEqual(["new"]);
  });

  it("has no rows while it has no facts", async () => {
    const { db, store } = database();
    const { header } = await appendLog(store, long, 500);
    await foldFully(db, header.id);

    const log = await recreate(header.id, short.events);
    await changeLog(db, header.id, [
      "update turnlog.sessions set facts_head = 0 where session_id = $1",
    ]);
    await foldFully(db, header.id);

    await expectFolded(db, { ...log, events: [] });
  });

  it("keeps its work until the new events are folded", async () => {
    const { db, store } = database();
    const leader = await lead(db);
    const { header } = await appendLog(store, long, 500);
    await foldFully(db, header.id);
    await recreate(header.id, short.events);
    await leader.drain();
    expect(await workOf(db, header.id)).toBe(short.events.length);

    await foldFully(db, header.id);

    expect(await workOf(db, header.id)).toBeNull();
    expect((await checkpointOf(db, header.id, "titles"))?.next_seq).toBe(
      short.events.length,
    );
  });
});

describe("a redacted session", () => {
  it("is folded anew, and nothing of what was cut out is left in the tables", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, [prompt("my secret"), prompt("other")], {
      expectedSeq: 0,
    });
    await foldFully(db, id);

    await redact(id);
    await foldFully(db, id);

    const { rows } = await store.messages(id);
    expect(rows.map(({ text }) => text)).toEqual(["my [gone]", "other"]);
  });

  it("is folded anew also where the projector read it just before", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, [prompt("my secret")], { expectedSeq: 0 });
    await foldFully(db, id);
    await store.append(id, [prompt("another secret")], { expectedSeq: 1 });

    await foldAround(id, () => redact(id));
    await foldFully(db, id);

    const { rows } = await store.messages(id);
    expect(rows.map(({ text }) => text)).toEqual([
      "my [gone]",
      "another [gone]",
    ]);
  });
});

/** Starts the projector, and changes the session's checkpoints when it has read them and comes to write its own. */
async function foldAroundChange(
  sessionId: string,
  change: string,
): Promise<boolean> {
  const { db } = database();
  await using tx = await openTransaction(db);
  await tx.rows(
    {
      text: "select from turnlog.checkpoints where session_id = $1 for update",
    },
    [sessionId],
  );
  const folding = fold(db, sessionId);
  await untilBlocked(db, 1);
  await tx.rows({ text: change }, [sessionId]);
  await tx.commit();
  return folding;
}

describe("a checkpoint that moved while its session was folded", () => {
  it.each([
    ["another generation", "redaction_generation = redaction_generation + 1"],
    ["another incarnation", "incarnation = gen_random_uuid()"],
    ["another next seq", "next_seq = next_seq - 1"],
  ])(
    "to %s keeps the projector from writing, and it asks to be called again",
    async (_what, change) => {
      const { db, store } = database();
      const id = await halfFolded();
      const before = await store.messages(id);

      const again = await foldAroundChange(
        id,
        `update turnlog.checkpoints set ${change} where session_id = $1`,
      );

      expect(again).toBe(true);
      expect(await store.messages(id)).toMatchObject({ rows: before.rows });
      expect(await checkpointOf(db, id, "messages")).toMatchObject({
        attempts: 0,
        retry_in: null,
        is_parked: false,
      });
    },
  );

  it("by being removed keeps the projector from writing, and the next call folds it all", async () => {
    const { db, store } = database();
    const id = await halfFolded();

    const again = await foldAroundChange(
      id,
      "delete from turnlog.checkpoints where session_id = $1",
    );
    await foldFully(db, id);

    expect(again).toBe(true);
    const { rows } = await store.messages(id);
    expect(rows.map(({ text }) => text)).toEqual(["one", "two"]);
  });
});
