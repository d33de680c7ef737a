import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { messages } from "../../src/projections/messages/projection.ts";
import { listen } from "../../src/db/listen.ts";
import { SessionId } from "../../src/events/ids.ts";
import { checkSession } from "../../src/log/check-session.ts";
import { liveRows } from "../support/build-rows.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, notes, prompt } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";

const database = useTestDatabase();

/** Bytes of everything the database holds of a session: log, read tables, checkpoints. */
async function bytesOf(sessionId: string): Promise<number> {
  const [row] = await database().db.rows<{ bytes: number }>(
    {
      text: `
        select (select sum(pg_column_size(e.*)) from turnlog.events e where session_id = $1)::bigint
               + (select coalesce(sum(pg_column_size(c.*)), 0) from turnlog.checkpoints c where session_id = $1)::bigint as bytes`,
    },
    [sessionId],
  );
  return row?.bytes ?? 0;
}

describe("a session", () => {
  it("grows with its events, not with their square (B021)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const text = "x".repeat(500);
    for (let turn = 0; turn < 10; turn += 1)
      await store.append(
        id,
        Array.from({ length: 20 }, (_, at) =>
          prompt(`${randomUUID()}${at}${text}`),
        ),
        { expectedSeq: turn * 20 },
      );
    await catchUp(db);

    expect(await bytesOf(id)).toBeLessThan(3 * 200 * (text.length + 200));
  });

  it("refers to what a compaction hides instead of copying it (B016)", async () => {
    const { store } = database();
    const id = randomUUID();
    const image = {
      type: "image",
      attachment: {
        attachmentId: "a",
        mediaType: "image/png",
        bytes: 9,
        width: 1,
        height: 1,
      },
    };
    const seqs = Array.from({ length: 34 }, (_, seq) => seq);
    await store.append(
      id,
      seqs.map((seq) => ({
        type: "user/message",
        data: {
          id: `m${seq}`,
          role: "user",
          content: [image, { type: "text", text: "y".repeat(400) }],
          source: { kind: "user" },
        },
        surfaceOp: "append",
      })),
      { expectedSeq: 0 },
    );
    const before = await bytesOf(id);
    const range = {
      shadowedRange: { start: 0, end: 33 },
      shadowedSeqs: seqs,
      shadowedTokenCount: 1,
    };
    await store.append(
      id,
      [
        { type: "compaction/start", data: { compactionId: "c", turn: null } },
        {
          type: "compaction/summary",
          data: {
            compactionId: "c",
            summary: [{ type: "text", text: "All images." }],
            ...range,
            provider: "p",
            model: "m",
          },
        },
        {
          type: "user/message",
          data: {
            id: "k",
            role: "user",
            content: [{ type: "text", text: "All images." }],
            source: { kind: "plugin", plugin: "compact", compactionId: "c" },
          },
          surfaceOp: { op: "replace", start: 0, end: 33 },
          sourceEventSeqs: [34, 35, ...seqs],
        },
        { type: "compaction/end", data: { compactionId: "c", turn: null } },
      ],
      { expectedSeq: 34 },
    );

    expect((await bytesOf(id)) - before).toBeLessThan(before / 5);
    expect((await store.messagesAt(id, 37)).map(({ seq }) => seq)).toEqual([
      36,
    ]);
  });

  it("takes a large event while somebody listens for appends (B018)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    let woken = 0;
    await using _listener = listen(db, "turnlog_outbox", () => (woken += 1));
    const text = "明天下午三点开项目评审会议".repeat(500);
    await store.append(id, [prompt(text)], { expectedSeq: 0 });
    await catchUp(db);

    expect((await store.messages(id)).rows.map((row) => row.text)).toEqual([
      text,
    ]);
    expect(woken).toBeGreaterThan(0);
  });

  it("of nine thousand events in three lives loads and checks whole (B020)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    for (let life = 0; life < 3; life += 1)
      await store.append(
        id,
        [...notes(2_999), { type: "session/end-seed", data: {} }],
        { expectedSeq: life * 3_000 },
      );

    expect(await collect(store, id)).toHaveLength(9_000);
    expect(
      await checkSession(db, SessionId(id), { fixState: false }),
    ).toMatchObject({ events: 9_000, count: 0 });
  });

  it("may show a prompt before the first step (B108)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(
      id,
      [{ type: "turn/start", data: { turn: 1 } }, prompt("early")],
      { expectedSeq: 0 },
    );
    await catchUp(db);

    expect((await liveRows(db, messages, id))["messages"]).toMatchObject([
      { seq: 1, turn: 1, step: null },
    ]);
  });
});
