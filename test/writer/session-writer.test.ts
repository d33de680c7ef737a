import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/events/event.ts";
import { createSessionStore } from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { ours } from "../support/derived.ts";
import {
  anything,
  collect,
  deltas,
  note,
  notes,
  openStep,
} from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();
const LONG_MS = 600_000;

function message(text: string) {
  const content = [{ type: "text", text }];
  return { id: text, role: "user", source: { kind: "user" }, content };
}

function range(start: number, end: number) {
  return { op: "replace", start, end } as const;
}

/** Appends of a session, as their numbers of events. */
async function appendSizes(id: string): Promise<number[]> {
  const rows = await database().db.rows<{ append_events: number }>(
    {
      text: `
        select append_events
        from turnlog.events
        where session_id = $1 and append_id is not null
        order by seq`,
    },
    [id],
  );
  return rows.map((row) => row.append_events);
}

describe("a writer", () => {
  it("stores what is written, in order, and says which seq each event got", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id, { header: { cwd: "/srv" } });

    const seqs = await Promise.all(
      [...openStep(), ...deltas(["a", "b", "c"])].map(({ type, data }) =>
        writer.write(type, data),
      ),
    );
    await writer.flush();

    expect(seqs).toEqual([0, 1, 2, 3, 4]);
    expect((await collect(store, id)).map(({ type }) => type)).toEqual([
      "turn/start",
      "step/start",
      "assistant/chunk",
      "assistant/chunk",
      "assistant/chunk",
    ]);
    expect((await store.session(id)).header).toMatchObject({ cwd: "/srv" });
    expect([writer.nextSeq, writer.storedSeq]).toEqual([5, 5]);
  });

  it("stores any legal log as it is given, whatever the batches, and the state with it", async () => {
    const { store } = database();
    await fc.assert(
      fc.asyncProperty(
        legalLog(),
        fc.record({
          maxDelayMs: fc.nat(5),
          maxBatchEvents: fc.integer({ min: 1, max: 40 }),
          maxBatchCharacters: fc.integer({ min: 1, max: 10_000 }),
        }),
        fc.integer({ min: 1, max: 30 }),
        async (log, limits, flushEach) => {
          const { header, events } = ours(log);
          const { version: _version, id: _id, ...given } = header;
          const id = randomUUID();
          const writer = await store.create(id, { header: given, ...limits });
          for (const { type, data, seq, ...marks } of events) {
            expect(await writer.write(type, data, marks)).toBe(seq);
            if (seq % flushEach === 0) await writer.flush();
          }
          await writer.close();
          if (events.length === 0) return;
          expect(await collect(store, id)).toEqual(events);
          const { findings } = await store.check(id);
          expect(findings.filter(({ rule }) => rule === "state")).toEqual([]);
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it("stores nothing before a batch is full, or flushed, or its time has come", async () => {
    const { store } = database();
    const id = randomUUID();
    const settings = { maxDelayMs: LONG_MS, maxBatchEvents: 3 };
    await using writer = await store.create(id, settings);

    for (const { type, data } of notes(8)) await writer.write(type, data);
    await writer.flush();

    expect(await appendSizes(id)).toEqual([3, 3, 2]);
  });

  it("stores an event in time without a flush", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id, { maxDelayMs: 5 });
    const stored = new Promise<SessionEvent>((resolve) => {
      writer.subscribe(resolve);
    });

    await writer.write("feedback/record", { text: "soon" });

    expect(await stored).toMatchObject({ seq: 0, data: { text: "soon" } });
  });

  it("puts an event that is larger than a batch in one of its own", async () => {
    const { store } = database();
    const id = randomUUID();
    const settings = { maxDelayMs: LONG_MS, maxBatchCharacters: 100 };
    await using writer = await store.create(id, settings);

    for (const text of ["a", "b", "x".repeat(500), "c"])
      await writer.write("feedback/record", { text });
    await writer.flush();

    expect(await appendSizes(id)).toEqual([2, 1, 1]);
  });

  it("refuses an event that breaks a rule, and goes on as if it had not been written", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    const written = [
      writer.write("turn/start", { turn: 1 }),
      writer.write("turn/start", { turn: 2 }),
      writer.write("acme/unknown", {}),
      writer.write("turn/end", { turn: 1, reason: { kind: "completed" } }),
    ];

    expect(
      (await Promise.allSettled(written)).map((each) =>
        each.status === "fulfilled" ? each.value : each.reason.code,
      ),
    ).toEqual([0, "EVENT_INVALID", "EVENT_TYPE_UNKNOWN", 1]);
    await writer.flush();
    expect(await collect(store, id)).toHaveLength(2);
  });

  it("refuses an event that is too large for the store by itself, not with the batch", async () => {
    await using store = await createSessionStore({
      databaseUrl: database().url,
      maxEventCharacters: 100,
    });
    const id = randomUUID();
    await using writer = await store.create(id);

    await writer.write("feedback/record", { text: "small" });
    await expect(
      writer.write("feedback/record", { text: "x".repeat(200) }),
    ).rejects.toMatchObject({ code: "EVENT_TOO_LARGE" });
    await writer.flush();

    expect(await collect(store, id)).toHaveLength(1);
  });

  it("takes over what it is given at once: a later change of the caller's changes nothing", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    const data = { text: "as written" };
    const writing = writer.write("feedback/record", data);
    data.text = "changed";
    await writing;
    await writer.flush();

    expect((await collect(store, id)).map((event) => event.data)).toEqual([
      { text: "as written" },
    ]);
  });

  it("appends events together or not at all, behind what was written before", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id, { maxDelayMs: LONG_MS });
    await writer.write("feedback/record", { text: "first" });

    expect(await writer.append(notes(2))).toEqual({
      firstSeq: 1,
      nextSeq: 3,
      deduplicated: false,
    });
    await expect(
      writer.append([note("taken"), { type: "turn/end", data: { turn: 1 } }]),
    ).rejects.toMatchObject({ code: "EVENT_INVALID", index: 1 });

    expect(await appendSizes(id)).toEqual([1, 2]);
    expect(writer.nextSeq).toBe(3);
  });

  it("stores an append id once, and tells a repetition from a reuse", async () => {
    const { store } = database();
    const [id, appendId] = [randomUUID(), randomUUID()];
    await using writer = await store.create(id);

    const first = await writer.append(notes(2), { appendId });
    await writer.append(notes(1));

    expect(await writer.append(notes(2), { appendId })).toEqual({
      ...first,
      deduplicated: true,
    });
    await expect(writer.append(notes(1), { appendId })).rejects.toMatchObject({
      code: "APPEND_ID_REUSED",
      firstSeq: 0,
    });
    expect(await collect(store, id)).toHaveLength(3);
  });

  it("checks a replacement against the surface, written events included", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id, { maxDelayMs: LONG_MS });
    const append = { surfaceOp: "append" } as const;
    await writer.write("user/message", message("a"), append);
    await writer.write("user/message", message("b"), append);

    await expect(
      writer.write("user/message", message("c"), {
        surfaceOp: range(0, 7),
        sourceEventSeqs: [0, 1],
      }),
    ).rejects.toMatchObject({ rule: "replace-end-not-in-surface" });
    await writer.write("user/message", message("c"), {
      surfaceOp: range(0, 1),
      sourceEventSeqs: [0, 1],
    });
    await writer.flush();

    expect(
      (await store.messagesAt(id, 2)).map((derived) => derived.seq),
    ).toEqual([2]);
  });
});

describe("a listener of a writer", () => {
  it("gets each event once it is stored, in order, and as it is read", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    const heard: SessionEvent[] = [];
    const stop = writer.subscribe((event) => heard.push(event));
    await writer.append([...notes(2), anything({ deep: [1] })]);
    expect(heard).toEqual(await collect(store, id));

    stop();
    await writer.append(notes(1));

    expect(heard).toHaveLength(3);
  });

  it("may fail, at once or later: others are told, and nothing is lost", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    const errors: unknown[] = [];
    const heard: number[] = [];
    writer.subscribe(
      () => {
        throw new Error("at once");
      },
      (error) => errors.push(error),
    );
    writer.subscribe(
      () => Promise.reject(new Error("later")),
      (error) => {
        errors.push(error);
        throw new Error("the handler too");
      },
    );
    writer.subscribe(({ seq }) => heard.push(seq));

    await writer.append(notes(2));
    await expect.poll(() => errors.length).toBe(4);

    expect(heard).toEqual([0, 1]);
    expect(await collect(store, id)).toHaveLength(2);
  });

  it("can't call its writer before it has returned", async () => {
    const { store } = database();
    const id = randomUUID();
    await using writer = await store.create(id);
    const calls: Promise<unknown>[] = [];
    writer.subscribe(() => {
      calls.push(
        writer.write("feedback/record", { text: "inside" }),
        writer.append(notes(1)),
        writer.flush(),
        writer.close(),
      );
      void Promise.allSettled(calls);
    });

    await writer.append(notes(1));

    expect(
      (await Promise.allSettled(calls)).map((call) =>
        call.status === "rejected" ? call.reason.code : null,
      ),
    ).toEqual(Array.from({ length: 4 }, () => "WRITER_REENTRANT"));
    expect(await collect(store, id)).toHaveLength(1);
  });
});

describe("closing a writer", () => {
  it("stores what was written, and lets the session go", async () => {
    const { store } = database();
    const id = randomUUID();
    const writer = await store.create(id, { maxDelayMs: LONG_MS });
    const writing = writer.write("feedback/record", { text: "last" });
    await Promise.all([writer.close(), writer.close()]);

    expect(await writing).toBe(0);
    expect(await collect(store, id)).toHaveLength(1);
    await expect(writer.write("feedback/record", {})).rejects.toMatchObject({
      code: "WRITER_CLOSED",
      sessionId: id,
    });
    await using next = await store.open(id);
    expect(next.epoch).toBe(1);
  });

  it("of one that wrote nothing creates no session", async () => {
    const { store } = database();
    const id = randomUUID();
    const writer = await store.create(id);
    await writer.close();

    await expect(store.session(id)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });
});

describe("creating a session", () => {
  it("that exists is a conflict, at the call or at the first append (B081)", async () => {
    const { store } = database();
    const id = randomUUID();
    const writers = await Promise.all(
      Array.from({ length: 10 }, () => store.create(id)),
    );

    const results = await Promise.allSettled(
      writers.map((writer) => writer.append(notes(1))),
    );

    const codes = results.map((result) =>
      result.status === "rejected" ? result.reason.code : "stored",
    );
    expect(codes.filter((code) => code === "stored")).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(["stored", "WRONG_EXPECTED_SEQ"]));
    await expect(store.create(id)).rejects.toMatchObject({
      code: "WRONG_EXPECTED_SEQ",
      actualSeq: 1,
    });
    await Promise.all(writers.map((writer) => writer.close()));
  });

  it.each([
    [{ maxDelayMs: -1 }, "maxDelayMs"],
    [{ maxBatchEvents: 0 }, "maxBatchEvents"],
    [{ maxBatchCharacters: 1.5 }, "maxBatchCharacters"],
    [{ holdMs: 0 }, "holdMs"],
    [{ header: { cwd: "relative" } }, "header.cwd"],
  ])("with %j is refused", async (options, path) => {
    await expect(
      database().store.create(randomUUID(), options),
    ).rejects.toMatchObject({ code: "EVENT_INVALID", path });
  });
});
