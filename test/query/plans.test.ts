import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/database.ts";
import { notes, prompt } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";

const database = useTestDatabase();
let sessionId = "";

/** Rows of every kind. */
beforeAll(async () => {
  const { db, store } = database();
  for (let session = 0; session < 60; session += 1) {
    sessionId = randomUUID();
    await store.append(
      sessionId,
      [...notes(60), ...["a", "b", "c", "d"].map((text) => prompt(text))],
      { expectedSeq: 0 },
    );
  }
  await catchUp(db);
  await db.rows({
    text: `
      insert into turnlog.outbox (session_id, first_seq, next_seq, incarnation)
      select 'session ' || n, 0, 1, gen_random_uuid() from generate_series(1, 3000) n`,
  });
  await db.rows({
    text: `
      insert into turnlog.work (session_id, next_seq, ring_at, claimed_until)
      select 'session ' || n, 1, now() + n * interval '1 second', now() + n * interval '1 second'
      from generate_series(1, 3000) n`,
  });
  await db.rows({
    text: `
      insert into turnlog.checkpoints (session_id, build, next_seq, incarnation, redaction_generation, state, next_at)
      select 'session ' || n, 1, 1, gen_random_uuid(), 0, '', case when n < 20 then now() end
      from generate_series(1, 3000) n`,
  });
  await db.rows({ text: "analyze" });
});

const LIST_PAGE =
  "select * from turnlog_read.sessions where (activity_ms, session_id) < (9e15::bigint, 'x') order by activity_ms desc, session_id desc limit 10";

/** The plan where an index is taken if there is one that fits: the tables of a test are too small to need it. */
function planOf(text: string): Promise<string> {
  return database().db.transaction(async (tx) => {
    await tx.rows({ text: "set local enable_seqscan = off" });
    await tx.rows({ text: "set local enable_bitmapscan = off" });
    const rows = await tx.rows<{ "QUERY PLAN": string }>({
      text: `explain (costs off) ${text}`,
    });
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  });
}

describe("hot queries use an index and scan no table", () => {
  it.each<[string, () => string, string]>([
    [
      "a page of a log",
      () =>
        `select * from turnlog.events where session_id = '${sessionId}' and seq >= 10 and seq < 40 order by seq limit 10`,
      "events_pkey",
    ],
    [
      "a page of some types",
      () =>
        `select * from turnlog.events where session_id = '${sessionId}' and seq >= 0 and type = any('{user/message}') order by seq limit 10`,
      "events_pkey",
    ],
    [
      "the row around a seq",
      () =>
        `select seq from turnlog.events where session_id = '${sessionId}' and seq <= 9 order by seq desc limit 1`,
      "events_pkey",
    ],
    [
      "an append id",
      () =>
        `select seq from turnlog.events where session_id = '${sessionId}' and append_id = '${randomUUID()}'`,
      "events_session_id_append_id_idx",
    ],
    [
      "the oldest of the outbox",
      () =>
        "select session_id from turnlog.outbox where id > 5 order by id limit 50",
      "outbox_id_idx",
    ],
    [
      "unclaimed work",
      () =>
        "select session_id from turnlog.work where claimed_until <= statement_timestamp() order by claimed_until limit 4 for update skip locked",
      "work_claimed_until_idx",
    ],
    [
      "overdue work",
      () =>
        "select session_id from turnlog.work where ring_at <= now() order by ring_at limit 50 for update skip locked",
      "work_ring_at_idx",
    ],
    [
      "folds to be tried again",
      () =>
        "select session_id from turnlog.checkpoints where next_at <= now() order by next_at limit 50",
      "checkpoints_next_at_idx",
    ],
    [
      "sessions that a build failed at",
      () =>
        "select session_id from turnlog.checkpoints where parked_at is not null",
      "checkpoints_parked_at_idx",
    ],
    [
      "events that a build passes over",
      () =>
        `select seq from turnlog.skipped_events where session_id = '${sessionId}' and build = 1 and incarnation = gen_random_uuid()`,
      "skipped_events_pkey",
    ],
    [
      "a page of sessions for the reconciler",
      () =>
        "select session_id from turnlog.sessions where session_id > 'a' order by session_id limit 10",
      "sessions_pkey",
    ],
    [
      "messages of a session in the model's order",
      () =>
        `select * from turnlog_read.messages where session_id = '${sessionId}' and on_surface and order_key > 0 order by order_key limit 10`,
      "messages_",
    ],
    [
      "usage of a session",
      () =>
        `select * from turnlog_read.usage where session_id = '${sessionId}'`,
      "usage_pkey",
    ],
    [
      "titles of a session",
      () =>
        `select * from turnlog_read.titles where session_id = '${sessionId}'`,
      "titles_pkey",
    ],
    [
      "a page of the list",
      () => LIST_PAGE,
      "sessions_activity_ms_session_id_idx",
    ],
    [
      "where the last turn of a log begins or ends",
      () =>
        `select seq, type from turnlog.events where session_id = '${sessionId}' and seq < 50 and type in ('turn/start', 'turn/end') order by seq desc limit 1`,
      "events_pkey",
    ],
    [
      "one session of the list",
      () =>
        `select * from turnlog_read.sessions where session_id = '${sessionId}'`,
      "sessions_pkey",
    ],
  ])("%s", async (_what, query, index) => {
    const plan = await planOf(query());

    expect(plan).toContain(index);
    expect(plan).not.toContain("Seq Scan");
  });
});

describe("the list of sessions", () => {
  it("is read without a look at any log (B096)", async () => {
    const plan = await planOf(LIST_PAGE);

    expect(plan).toContain("Limit");
    expect(plan).not.toMatch(/\bevents/);
  });
});
