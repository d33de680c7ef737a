import { randomUUID } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Db } from "../../../src/db/connect.ts";
import type { NewEvent } from "../../../src/events/event.ts";
import { importFile } from "../../../src/io/import-file.ts";
import {
  createSessionStore,
  storeOver,
  type SessionStore,
} from "../../../src/session-store.ts";
import { useTestDatabase } from "../../support/database.ts";
import {
  anything,
  collect,
  deltas,
  note,
  notes,
  openStep,
  prompt,
} from "../../support/events.ts";
import { answer, toolCall, toolResult } from "../../support/request-events.ts";

const database = useTestDatabase();

const META = { meta: { a: 1 } };

const STEP_END: NewEvent = { type: "step/end", data: { turn: 1, step: 1 } };
const TURN_END: NewEvent = {
  type: "turn/end",
  data: { turn: 1, reason: { kind: "completed" } },
};

describe("a batch that breaks a rule", () => {
  it.each<[index: number, bad: NewEvent, rule: string, path: string]>([
    [0, turn(2), "turn-order", "data.turn"],
    [1, turn(3), "turn-order", "data.turn"],
    [3, toolResult("c1", "x"), "tool-pairing", "data.message.source.callId"],
    [5, STEP_END, "outside-step", "data"],
    [6, { type: "turn/start", data: {} }, "data-shape", "data.turn"],
  ])(
    "at %i stores nothing, and the error says where and what it is",
    async (index, bad, rule, path) => {
      const { store, db } = database();
      const id = randomUUID();
      await store.append(id, [prompt("a"), note()], { expectedSeq: 0 });
      const before = await storedRow(db, id);
      const good = [...openStep(), toolCall("c2"), note(), STEP_END, TURN_END];

      await expect(
        store.append(id, good.toSpliced(index, 1, bad), { expectedSeq: 2 }),
      ).rejects.toMatchObject({
        code: "EVENT_INVALID",
        index,
        seq: 2 + index,
        type: bad.type,
        rule,
        path,
        retryable: false,
      });

      expect(await storedRow(db, id)).toEqual(before);
      expect(await collect(store, id)).toHaveLength(2);
      await store.append(id, good, { expectedSeq: 2 });
    },
  );

  it("creates no session", async () => {
    const { store } = database();
    const id = randomUUID();

    await expect(
      store.append(id, [note(), turn(2)], { expectedSeq: 0 }),
    ).rejects.toMatchObject({ index: 1, rule: "turn-order" });

    await expect(store.session(id)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });

  it("is refused at any seq too", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: "any" });

    await expect(
      store.append(id, [turn(2)], { expectedSeq: "any" }),
    ).rejects.toMatchObject({ index: 0, seq: 2, rule: "turn-order" });
  });
});

describe("the state of a session", () => {
  it("goes on from append to append, one event at a time", async () => {
    const { store, db } = database();
    const id = randomUUID();
    const log = [...openStep(), toolCall("c1"), toolResult("c1", "x")];
    await appendOneByOne(store, id, [...log, STEP_END, TURN_END, turn(2)]);

    await expect(
      store.append(id, [turn(3)], { expectedSeq: 7 }),
    ).rejects.toMatchObject({ rule: "turn-order" });
    expect(await storedRow(db, id)).toMatchObject({
      head: 7,
      rules_version: 1,
    });
    expect((await store.check(id)).findings).toEqual([]);
  });

  it("is read by another store, which remembers nothing", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, [...openStep(), toolCall("c1")], { expectedSeq: 0 });
    const other = storeOver(db);

    await expect(
      other.append(id, [toolResult("c2", "x")], { expectedSeq: 3 }),
    ).rejects.toMatchObject({ rule: "tool-pairing" });
    await other.append(id, [toolResult("c1", "x")], { expectedSeq: 3 });
  });

  it("is read anew where another process appended meanwhile", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    const other = storeOver(db);
    await other.append(id, [toolCall("c1"), note()], { expectedSeq: 2 });

    await store.append(id, [toolResult("c1", "x")], { expectedSeq: 4 });

    await expect(
      other.append(id, [toolResult("c1", "x")], { expectedSeq: 5 }),
    ).rejects.toMatchObject({ rule: "tool-pairing" });
  });

  it("of older rules is computed from the log, and stored with the next append", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, [...openStep(), toolCall("c1")], { expectedSeq: 0 });
    await forgetState(db, id);
    const other = storeOver(db);

    await expect(
      other.append(id, [toolResult("c2", "x")], { expectedSeq: 3 }),
    ).rejects.toMatchObject({ rule: "tool-pairing" });
    await other.append(id, [toolResult("c1", "x")], { expectedSeq: 3 });

    expect(await storedRow(db, id)).toMatchObject({ rules_version: 1 });
    expect(await other.check(id)).toMatchObject({ count: 0 });
  });

  it("of older rules is mended by a check that is asked to", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await forgetState(db, id);

    expect(await store.check(id)).toMatchObject({
      findings: [{ rule: "state", seq: null }],
      isStateFixed: false,
    });
    expect(await store.check(id, { fixState: true })).toMatchObject({
      isStateFixed: true,
    });
    expect(await store.check(id)).toMatchObject({ count: 0 });
  });

  it("is that of the session made anew, whatever a store remembers of the deleted one", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await erase(db, id);
    const other = storeOver(db);
    await other.append(id, notes(2), { expectedSeq: 0, recreate: true });

    await store.append(id, [turn(1)], { expectedSeq: 2 });

    expect((await store.check(id)).findings).toEqual([]);
  });

  it("of the session made anew refuses what the deleted one would have taken", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await erase(db, id);
    const other = storeOver(db);
    await other.append(id, notes(2), { expectedSeq: 0, recreate: true });

    await expect(
      store.append(id, [STEP_END], { expectedSeq: 2 }),
    ).rejects.toMatchObject({ rule: "outside-step" });
    expect((await other.session(id)).head).toBe(2);
  });

  it("lets a repair or the live writer win, and the other's events are refused afterwards (B074)", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, [...openStep(), toolCall("c1")], { expectedSeq: 0 });
    const live = [toolResult("c1", "real")];
    const repair = [toolResult("c1", "repaired"), STEP_END, TURN_END];

    const outcomes = await Promise.allSettled([
      store.append(id, live, { expectedSeq: 3 }),
      storeOver(db).append(id, repair, { expectedSeq: 3 }),
    ]);

    expect(outcomes.map(({ status }) => status).toSorted()).toEqual([
      "fulfilled",
      "rejected",
    ]);
    expect((await store.check(id)).findings).toEqual([]);
    await expect(
      store.append(id, live, { expectedSeq: "any" }),
    ).rejects.toMatchObject({ code: "EVENT_INVALID" });
  });
});

describe("a replacement", () => {
  it("takes the place of events of an earlier append", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, [prompt("a"), prompt("b")], { expectedSeq: 0 });

    await storeOver(db).append(id, [replacing(0, 1)], { expectedSeq: 2 });

    await expect(
      store.append(id, [replacing(1, 1)], { expectedSeq: 3 }),
    ).rejects.toMatchObject({
      index: 0,
      rule: "replace-start-not-in-surface",
      path: "surfaceOp",
    });
    await store.append(id, [replacing(2, 2)], { expectedSeq: 3 });
  });

  it("takes the place of events of its own append", async () => {
    const { store } = database();
    const id = randomUUID();
    const batch = [prompt("a"), prompt("b"), replacing(0, 1), replacing(2, 2)];

    await store.append(id, batch, { expectedSeq: 0 });

    await expect(
      store.append(id, [prompt("c"), replacing(2, 4)], { expectedSeq: 4 }),
    ).rejects.toMatchObject({
      index: 1,
      seq: 5,
      rule: "replace-start-not-in-surface",
    });
  });

  it("of events of both is judged by place", async () => {
    const { store } = database();
    const id = randomUUID();
    const prompts = ["a", "b", "c"].map((text) => prompt(text));
    await store.append(id, prompts, { expectedSeq: 0 });

    await expect(
      store.append(id, [replacing(0, 1), replacing(2, 3)], { expectedSeq: 3 }),
    ).rejects.toMatchObject({ index: 1, rule: "replace-range-reversed" });
    await store.append(id, [replacing(0, 1), replacing(3, 2)], {
      expectedSeq: 3,
    });
  });

  it("names all that it shadows, also of an earlier append", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, [prompt("a"), prompt("b")], { expectedSeq: 0 });
    const forgetful = { ...replacing(0, 1), sourceEventSeqs: [1] };

    await expect(
      store.append(id, [forgetful], { expectedSeq: 2 }),
    ).rejects.toMatchObject({
      rule: "sources-miss-shadowed",
      path: "sourceEventSeqs",
    });
  });
});

describe("a rewritten tool result", () => {
  /** Seqs 0 to 6; the results are 5 and 6. */
  const log = [
    ...openStep(),
    answer([]),
    ...["c1", "c2"].map(toolCall),
    ...["c1", "c2"].map((id) => toolResult(id, "long", META)),
  ];

  it("takes the place of one of an earlier append, and of one of its own", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, log, { expectedSeq: 0 });

    await storeOver(db).append(
      id,
      [rewrite(5, "c1", META), rewrite(7, "c1", META)],
      { expectedSeq: 7 },
    );

    expect((await store.check(id)).findings).toEqual([]);
  });

  it.each<[what: string, bad: NewEvent, path: string]>([
    [
      "takes the place of one event",
      {
        ...rewrite(5, "c1", META),
        surfaceOp: { op: "replace", start: 5, end: 6 },
        sourceEventSeqs: [5, 6],
      },
      "surfaceOp",
    ],
    ["takes the place of a tool result", rewrite(2, "c1", META), "surfaceOp"],
    [
      "changes nothing but the content",
      rewrite(5, "c1", { meta: { a: 2 } }),
      "data",
    ],
    ["leaves nothing out", rewrite(5, "c1", {}), "data"],
  ])("%s, of an earlier append and of its own", async (_what, bad, path) => {
    const { store } = database();
    const id = randomUUID();
    const refusal = { rule: "tool-result-rewrite", path };

    await expect(
      store.append(id, [...log, bad], { expectedSeq: 0 }),
    ).rejects.toMatchObject({ ...refusal, index: 7 });
    await store.append(id, log, { expectedSeq: 0 });
    await expect(
      store.append(id, [bad], { expectedSeq: 7 }),
    ).rejects.toMatchObject({ ...refusal, index: 0 });
  });
});

describe("a type that nobody knows", () => {
  it("is refused until it is registered, and then taken by every store and by import", async () => {
    const { store, db } = database();
    const type = `acme/x-${randomUUID()}`;
    const event = { type, data: [1] };
    const [id, file] = [randomUUID(), await logFile(event)];
    const refused = { code: "EVENT_TYPE_UNKNOWN", type, seq: 1 };

    await expect(
      store.append(id, [note(), event], { expectedSeq: 0 }),
    ).rejects.toMatchObject(refused);
    expect(await importFile(store, file)).toMatchObject({
      outcome: "refused",
      line: 2,
    });
    await store.registerEventType({ type, description: "for a test" });

    await storeOver(db).append(id, [note(), event], { expectedSeq: 0 });
    expect(await importFile(storeOver(db), file)).toMatchObject({
      outcome: "imported",
    });
    expect(await collect(store, id)).toMatchObject([note(), event]);
  });

  it.each(["turn/start", "mode/set", "text-chunks", "acme", "acme/", "a b/c"])(
    "that is ours, retired or no name can not be registered: %s",
    async (type) => {
      await expect(
        database().store.registerEventType({ type, description: "x" }),
      ).rejects.toMatchObject({ rule: "event-type", path: "type", type });
    },
  );

  it("needs no registration when it is ignorable", async () => {
    const { store } = database();
    const id = randomUUID();

    await store.append(id, [anything(null)], { expectedSeq: 0 });

    expect(await collect(store, id)).toMatchObject([anything(null)]);
  });
});

describe("what is too large", () => {
  it("as an event is refused with its place, and nothing is stored", async () => {
    await using store = await limitedStore({ maxEventCharacters: 100 });
    const id = randomUUID();
    const [fits, tooLong] = ["x".repeat(98), "x".repeat(99)].map(anything);

    await expect(
      store.append(id, [note(), tooLong ?? note()], { expectedSeq: 0 }),
    ).rejects.toMatchObject({
      code: "EVENT_TOO_LARGE",
      index: 1,
      actual: 101,
      limit: 100,
    });
    await expect(store.session(id)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    await store.append(id, [note(), fits ?? note()], { expectedSeq: 0 });
  });

  it("as a delta is refused, whether or not it stands in a run", async () => {
    await using store = await limitedStore({ maxEventCharacters: 200 });
    const id = randomUUID();
    const long = deltas(["a", "x".repeat(300), "b"]);

    await expect(
      store.append(id, [...openStep(), ...long], { expectedSeq: 0 }),
    ).rejects.toMatchObject({ code: "EVENT_TOO_LARGE", index: 3, limit: 200 });
  });

  it("as an append is refused, and nothing is stored", async () => {
    await using store = await limitedStore({ maxAppendCharacters: 100 });
    const id = randomUUID();
    const half = anything("x".repeat(48));

    await expect(
      store.append(id, [half, half, anything(1)], { expectedSeq: 0 }),
    ).rejects.toMatchObject({
      code: "EVENT_TOO_LARGE",
      index: null,
      actual: 101,
      limit: 100,
    });
    await expect(store.session(id)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    await store.append(id, [half, half], { expectedSeq: 0 });
  });

  it("in depth is refused by name, and 5,000 levels are stored (B012)", async () => {
    const { store } = database();
    const id = randomUUID();

    await expect(
      store.append(id, [anything(nested(5_001))], { expectedSeq: 0 }),
    ).rejects.toMatchObject({
      code: "EVENT_INVALID",
      rule: "lossless-json",
      message: expect.stringContaining("nested deeper than 5000 levels"),
    });
    await store.append(id, [anything(nested(5_000))], { expectedSeq: 0 });
    expect(await collect(store, id)).toHaveLength(1);
  });
});

function turn(number: number): NewEvent {
  return { type: "turn/start", data: { turn: number } };
}

/** A message in the place of all events of the range; it cites every seq of it. */
function replacing(start: number, end: number): NewEvent {
  const source = { kind: "agent-instructions" };
  const [low, high] = [Math.min(start, end), Math.max(start, end)];
  return {
    type: "user/message",
    data: { id: "m", role: "user", content: [], source },
    surfaceOp: { op: "replace", start, end },
    sourceEventSeqs: [...Array(high - low + 1).keys()].map((at) => low + at),
  };
}

/** A shorter result in the place of the event at seq. */
function rewrite(seq: number, callId: string, more: object): NewEvent {
  return {
    ...toolResult(callId, "short", more),
    surfaceOp: { op: "replace", start: seq, end: seq },
    sourceEventSeqs: [seq],
  };
}

async function appendOneByOne(
  store: SessionStore,
  id: string,
  events: readonly NewEvent[],
): Promise<void> {
  for (const [seq, event] of events.entries())
    await store.append(id, [event], { expectedSeq: seq });
}

/** All of the session's row that an append changes. */
async function storedRow(db: Db, id: string): Promise<unknown> {
  const [row] = await db.rows(
    {
      text: "select head, facts_head, rules_version, state from turnlog.sessions where session_id = $1",
    },
    [id],
  );
  return row;
}

async function forgetState(db: Db, id: string): Promise<void> {
  await db.rows(
    {
      text: "update turnlog.sessions set rules_version = 0, state = '{}' where session_id = $1",
    },
    [id],
  );
}

/** Deletes a session and takes away what an append left, so that its id can be used again. */
async function erase(db: Db, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.rows({ text: "set local session_replication_role = replica" });
    for (const text of [
      "delete from turnlog.events where session_id = $1",
      "delete from turnlog.outbox where session_id = $1",
      "update turnlog.sessions set deleted_at = now() where session_id = $1",
    ])
      await tx.rows({ text }, [id]);
  });
}

async function logFile(event: NewEvent): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "turnlog-rules-"));
  const header = { version: 0, id: randomUUID(), createdAt: 0 };
  const lines = [
    { type: "session", ...header, delegationDepth: 0 },
    { seq: 0, time: 1, ...event },
  ];
  const file = join(folder, "log.jsonl");
  await writeFile(file, lines.map((l) => `${JSON.stringify(l)}\n`).join(""));
  return file;
}

function limitedStore(limits: object): Promise<SessionStore> {
  return createSessionStore({ databaseUrl: database().url, ...limits });
}

/** Arrays within arrays. */
function nested(levels: number): unknown {
  let value: unknown[] = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
}
