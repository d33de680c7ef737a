import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import type { NewEvent } from "../../src/events/event.ts";
import { useTestDatabase } from "../support/database.ts";
import { openStep } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";

const database = useTestDatabase();
const DAY_MS = 86_400_000;
const [parent, fork, agent] = [randomUUID(), randomUUID(), randomUUID()];

const report = (time: number, inputTokens: unknown): NewEvent => ({
  type: "assistant/message",
  data: {
    turn: 1,
    step: 1,
    message: {
      id: "a",
      role: "assistant",
      content: [],
      source: { kind: "model", provider: "p", model: "m" },
    },
    usage: { inputTokens, outputTokens: 0 },
  },
  surfaceOp: "append",
  time,
});

/** A parent, a fork of it that holds its events, and a session that the fork delegated to. */
beforeAll(async () => {
  const { db, store } = database();
  const spent = [...openStep(), report(DAY_MS, 100)];
  const append = (id: string, events: readonly NewEvent[], header: object) =>
    store.append(id, events, { expectedSeq: 0, header, allowFindings: true });
  await append(parent, spent, {});
  const close: NewEvent[] = [
    { type: "step/end", data: { turn: 1, step: 1 } },
    { type: "step/start", data: { turn: 1, step: 2 } },
  ];
  const own = report(3 * DAY_MS, 50);
  const second = { ...own, data: { ...Object(own.data), step: 2 } };
  await append(fork, [...spent, ...close, second], {
    parentSession: parent,
    seedLength: 3,
  });
  await append(agent, [...openStep(), report(3 * DAY_MS, 7)], {
    parentSession: fork,
  });
  await append(randomUUID(), [...openStep(), report(0, -3)], {
    parentSession: randomUUID(),
  });
  await catchUp(db);
});

const read = (text: string, values: readonly unknown[] = []) =>
  database().db.rows({ text }, values);

describe("sums of usage", () => {
  it("count each attempt once, on the day of its own event (B054, B055)", async () => {
    const rows = await read(
      "select day::text, session_count, total_tokens from turnlog_read.usage_by_day where total_tokens > 0 order by day",
    );

    expect(rows).toEqual([
      { day: "1970-01-02", session_count: 1, total_tokens: 100 },
      { day: "1970-01-04", session_count: 2, total_tokens: 57 },
    ]);
  });

  it("flag what is no count and leave it out (B062)", async () => {
    const rows = await read(
      "select provider, model, request_count, flagged_count, total_tokens from turnlog_read.usage_by_model",
    );

    expect(rows).toEqual([
      {
        provider: "p",
        model: "m",
        request_count: 4,
        flagged_count: 1,
        total_tokens: 157,
      },
    ]);
  });

  it("go down the tree of sessions, own and inherited apart, beside the last request (B054, B060)", async () => {
    const rows = await read(
      `select session_id, own_tokens, inherited_tokens, last_request_tokens, subtree_session_count, subtree_tokens
       from turnlog_read.session_totals where session_id = any($1::text[]) order by subtree_tokens desc`,
      [[parent, fork, agent]],
    );

    expect(rows).toEqual([
      {
        session_id: parent,
        own_tokens: 100,
        inherited_tokens: 0,
        last_request_tokens: 100,
        subtree_session_count: 3,
        subtree_tokens: 157,
      },
      {
        session_id: fork,
        own_tokens: 50,
        inherited_tokens: 100,
        last_request_tokens: 50,
        subtree_session_count: 2,
        subtree_tokens: 57,
      },
      {
        session_id: agent,
        own_tokens: 7,
        inherited_tokens: 0,
        last_request_tokens: 7,
        subtree_session_count: 1,
        subtree_tokens: 7,
      },
    ]);
  });

  it("end where sessions name each other as parents", async () => {
    const { db, store } = database();
    const [one, two] = [randomUUID(), randomUUID()];
    for (const [id, parentSession] of [
      [one, two],
      [two, one],
    ] as const)
      await store.append(id, [...openStep(), report(0, 1)], {
        expectedSeq: 0,
        header: { parentSession },
      });
    await catchUp(db);

    expect(
      await read(
        "select subtree_session_count, subtree_tokens from turnlog_read.session_totals where session_id = $1",
        [one],
      ),
    ).toEqual([{ subtree_session_count: 2, subtree_tokens: 2 }]);
  });
});
