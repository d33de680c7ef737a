import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note, openStep } from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";
import type { LogLike } from "../support/reference-log.ts";
import { referenceClosers } from "../support/reference.ts";

const database = useTestDatabase();

function texts(events: readonly object[]): readonly string[] {
  return events.map((event) => JSON.stringify(event));
}

async function storedTexts(id: string): Promise<readonly string[]> {
  return texts(await collect(database().store, id));
}

function compactionStart(compactionId: string) {
  return { type: "compaction/start", data: { compactionId, turn: null } };
}

/** A stored log that ends somewhere, and its id. */
async function crashedLog(log: LogLike, at: number) {
  const kept = log.events.slice(0, 1 + (at % Math.max(1, log.events.length)));
  const { header } = await appendLog(
    database().store,
    { ...log, events: kept },
    50,
  );
  return { id: header.id, kept };
}

describe("opening a session", () => {
  it("closes what a crash left open, as the harness does, marks the new life, and does neither twice", async () => {
    const { store } = database();
    await fc.assert(
      fc.asyncProperty(legalLog(), fc.nat(), async (log, at) => {
        if (log.events.length === 0) return;
        const { id, kept } = await crashedLog(log, at);
        const closed = [...kept, ...referenceClosers(kept)];
        const shown = await store.inspect(id);

        const writer = await store.open(id);
        await writer.close();

        const stored = await collect(store, id);
        expect(texts(stored.slice(0, closed.length))).toEqual(texts(closed));
        expect(texts(shown.closers)).toEqual(texts(closed.slice(kept.length)));
        const isMarked = closed.at(-1)?.type === "session/end-seed";
        expect(stored.slice(closed.length).map(({ type }) => type)).toEqual(
          isMarked ? [] : ["session/end-seed"],
        );
        expect(writer.nextSeq).toBe(stored.length);
        const again = await store.open(id);
        await again.close();
        expect(await collect(store, id)).toHaveLength(stored.length);
        expect((await store.inspect(id)).closers).toEqual([]);
        const { findings } = await store.check(id);
        expect(findings.filter(({ rule }) => rule === "state")).toEqual([]);
      }),
      { numRuns: runs(40) },
    );
  });

  it("stores closers and mark by one append", async () => {
    const { store, db } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await using _writer = await store.open(id);

    const rows = await db.rows<{ seq: number; append_events: number }>(
      {
        text: `
          select seq, append_events
          from turnlog.events
          where session_id = $1 and append_id is not null
          order by seq`,
      },
      [id],
    );
    expect(rows).toEqual([
      { seq: 0, append_events: 2 },
      { seq: 2, append_events: 3 },
    ]);
  });

  it("lets the next turn begin, with the next number", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });
    await using writer = await store.open(id);

    await writer.append([{ type: "turn/start", data: { turn: 2 } }]);

    expect((await collect(store, id)).map(({ type }) => type)).toEqual([
      "turn/start",
      "step/start",
      "step/end",
      "turn/end",
      "session/end-seed",
      "turn/start",
    ]);
  });

  it("leaves an open compaction before the mark for dead, so that a new one may begin (B043)", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, [compactionStart("dead")], { expectedSeq: 0 });
    await using writer = await store.open(id);

    await expect(
      writer.append([compactionStart("new")]),
    ).resolves.toMatchObject({
      firstSeq: 2,
    });
  });

  it("closes a turn that was open where the mark already stands", async () => {
    const { store } = database();
    const id = randomUUID();
    const seed = [...openStep(), { type: "session/end-seed", data: {} }];
    await store.append(id, seed, { expectedSeq: 0 });
    const { closers } = await store.inspect(id);

    for (const _opening of ["first", "second"])
      await (await store.open(id)).close();

    expect((await collect(store, id)).map(({ type }) => type)).toEqual([
      ...seed.map(({ type }) => type),
      ...closers.map(({ type }) => type),
      "session/end-seed",
    ]);
    expect(closers.map(({ type }) => type)).toEqual(["step/end", "turn/end"]);
  });

  it("closes a log that was imported with what it breaks", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(
      id,
      [
        { type: "turn/start", data: { turn: 5 } },
        { type: "step/end", data: { turn: 5, step: 9 } },
      ],
      { expectedSeq: 0, allowFindings: true },
    );

    await using writer = await store.open(id);
    await writer.append([{ type: "turn/start", data: { turn: 6 } }]);

    expect((await collect(store, id)).slice(2).map(({ type }) => type)).toEqual(
      ["turn/end", "session/end-seed", "turn/start"],
    );
  });
});

describe("a repair that races", () => {
  it("the live writer ends in one valid log, with the writer's events or the closers in their place (B074)", async () => {
    const { store } = database();
    for (let round = 0; round < 30; round += 1) {
      const id = randomUUID();
      const live = await store.create(id);
      await live.append(openStep());
      const [end, next] = await Promise.all([
        live.append([{ type: "step/end", data: { turn: 1, step: 1 } }]).then(
          () => "stored",
          (error: { code: string }) => error.code,
        ),
        store.open(id, { takeOver: true }),
      ]);

      const events = await collect(store, id);
      expect(events.map(({ type }) => type)).toEqual([
        "turn/start",
        "step/start",
        "step/end",
        "turn/end",
        "session/end-seed",
      ]);
      expect(["stored", "WRITER_FENCED"]).toContain(end);
      expect((await store.check(id)).findings).toEqual([]);
      await next.close();
      await live.close();
    }
  });

  it("another repair is done once, however many open at the same time", async () => {
    const { store } = database();
    const id = randomUUID();
    await store.append(id, openStep(), { expectedSeq: 0 });

    const openings = await Promise.allSettled(
      Array.from({ length: 8 }, () => store.open(id, { takeOver: true })),
    );

    for (const result of openings)
      if (result.status === "fulfilled") await result.value.close();
    const codes = openings.flatMap((result) =>
      result.status === "rejected" ? [result.reason.code] : [],
    );
    expect(codes.every((code) => code === "WRITER_FENCED")).toBe(true);
    expect(await storedTexts(id)).toHaveLength(5);
  });

  it("somebody who appends without being a writer is computed anew", async () => {
    const { store } = database();
    for (let round = 0; round < 20; round += 1) {
      const id = randomUUID();
      await store.append(id, openStep(), { expectedSeq: 0 });
      const [, writer] = await Promise.all([
        store.append(id, [note("a title, say")], { expectedSeq: "any" }),
        store.open(id),
      ]);
      await writer.close();

      const types = (await collect(store, id)).map(({ type }) => type);
      expect(types.toSorted()).toEqual(
        [
          "feedback/record",
          "session/end-seed",
          "step/end",
          "step/start",
          "turn/end",
          "turn/start",
        ].toSorted(),
      );
      expect((await store.check(id)).findings).toEqual([]);
    }
  });
});
