import fc from "fast-check";
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readRun, type CheckedRun } from "../../src/events/expand-runs.ts";
import type { LogRecord } from "../../src/events/log-record.ts";
import { packRuns, isRun } from "../../src/events/pack-runs.ts";
import { createSessionStore } from "../../src/session-store.ts";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, deltas, openStep } from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import type { LogLike } from "../support/reference-log.ts";
import { ours } from "../support/derived.ts";

const database = useTestDatabase();

function runOf(seq0: number, texts: readonly string[]): CheckedRun {
  const dt = texts.slice(1).map((_, at) => (at % 3) - 1);
  const data = { turn: 1, step: 1, index: 0, dt, texts };
  return readRun({ type: "text-chunks", seq0, time0: 7 }, data);
}

/** The records that a packed file of the log has. */
function recordsOf(log: LogLike): LogRecord[] {
  return [...packRuns(ours(log).events)].map((row) =>
    isRun(row)
      ? { run: readRun(row, row.data) }
      : { event: JSON.parse(JSON.stringify(row)), characters: 1 },
  );
}

function rowsOf(sessionId: string) {
  return database().db.rows(
    {
      text: "select seq, event_count, type, time_ms, turn, step, ignorable, surface_op, source_event_seqs, key_order, payload from turnlog.events where session_id = $1 order by seq",
    },
    [sessionId],
  );
}

async function openSession(): Promise<string> {
  const id = randomUUID();
  await database().store.append(id, openStep(), { expectedSeq: 0 });
  return id;
}

describe("records of a log file", () => {
  it("are stored as their events are, whatever their log", async () => {
    const { store } = database();
    await fc.assert(
      fc.asyncProperty(
        legalLog().filter(({ events }) => events.length > 0),
        async (log) => {
          const stored = await appendLog(store, log, log.events.length);
          const id = randomUUID();
          const { id: _id, version: _version, ...header } = log.header;

          await store.appendRecords(id, recordsOf(log), {
            expectedSeq: 0,
            header,
          });

          expect(await rowsOf(id)).toEqual(await rowsOf(stored.header.id));
          const { findings } = await store.check(id);
          expect(findings.map(({ rule }) => rule)).not.toContain("state");
        },
      ),
      { numRuns: 30 },
    );
  });

  it("may be runs that are longer than a row, which are cut", async () => {
    const { store, db } = database();
    const id = await openSession();
    const texts = Array.from({ length: 2_500 }, (_, at) => `w${at}`);

    const result = await store.appendRecords(id, [{ run: runOf(2, texts) }], {
      expectedSeq: 2,
    });

    expect(result).toMatchObject({ firstSeq: 2, nextSeq: 2_502 });
    const rows = await db.rows<{ event_count: number }>(
      {
        text: "select event_count from turnlog.events where session_id = $1 and seq >= 2 order by seq",
      },
      [id],
    );
    expect(rows.map((row) => row.event_count)).toEqual([1_024, 1_024, 452]);
    const events = (await collect(store, id)).slice(2);
    let time = 7;
    expect(events.map((event) => [event.time, event.data])).toEqual(
      texts.map((text, at) => {
        time += at === 0 ? 0 : ((at - 1) % 3) - 1;
        const chunk = { type: "text-delta", index: 0, text };
        return [time, { turn: 1, step: 1, chunk }];
      }),
    );
  });

  it("go on where events ended, and events go on where they end", async () => {
    const { store } = database();
    const id = await openSession();

    await store.appendRecords(id, [{ run: runOf(2, ["a"]) }], {
      expectedSeq: 2,
    });
    await store.append(id, deltas(["b", "c"]), { expectedSeq: 3 });
    await store.appendRecords(
      id,
      [{ run: runOf(5, ["d", "e"]) }, { run: runOf(7, ["f", "g", "h"]) }],
      { expectedSeq: 5 },
    );

    const texts = (await collect(store, id))
      .slice(2)
      .map(({ data }) =>
        JSON.stringify(data).replace(/.*"text":"(\w)".*/, "$1"),
      );
    expect(texts.join("")).toBe("abcdefgh");
    expect(await store.check(id)).toMatchObject({ count: 0 });
  });

  it.each<[string, readonly LogRecord[], object]>([
    [
      "a run that begins elsewhere",
      [{ run: runOf(3, ["a", "b", "c"]) }],
      { index: 0, seq: 2, rule: "seq" },
    ],
    [
      "a run behind another one that leaves a gap",
      [{ run: runOf(2, ["a", "b", "c"]) }, { run: runOf(6, ["a"]) }],
      { index: 3, seq: 5, rule: "seq" },
    ],
    [
      "a run of another step",
      [
        {
          run: readRun(
            { type: "text-chunks", seq0: 2, time0: 1 },
            { turn: 1, step: 2, index: 0, dt: [], texts: ["a"] },
          ),
        },
      ],
      { index: 0, seq: 2, rule: "outside-step" },
    ],
    [
      "a run of a turn that is none",
      [
        {
          run: readRun(
            { type: "text-chunks", seq0: 2, time0: 1 },
            { turn: 1.5, step: 1, index: 0, dt: [], texts: ["a"] },
          ),
        },
      ],
      { index: 0, seq: 2, rule: "data-shape" },
    ],
    [
      "an event behind a run that is wrong by itself",
      [
        { run: runOf(2, ["a", "b", "c"]) },
        { event: { type: "turn/end", time: 1, data: {} }, characters: 50 },
      ],
      { index: 3, seq: 5, type: "turn/end" },
    ],
  ])(
    "are refused for %s, and nothing is stored",
    async (_what, records, facts) => {
      const { store } = database();
      const id = await openSession();

      await expect(
        store.appendRecords(id, records, { expectedSeq: 2 }),
      ).rejects.toMatchObject({ code: "EVENT_INVALID", ...facts });
      expect((await store.session(id)).head).toBe(2);
    },
  );

  it("are stored once when they are sent again", async () => {
    const { store } = database();
    const id = await openSession();
    const appendId = randomUUID();
    const send = (texts: readonly string[]) =>
      store.appendRecords(id, [{ run: runOf(2, texts) }], {
        expectedSeq: 2,
        appendId,
      });

    await send(["a", "b"]);

    expect(await send(["a", "b"])).toMatchObject({ deduplicated: true });
    await expect(send(["a", "x"])).rejects.toMatchObject({
      code: "APPEND_ID_REUSED",
    });
    expect((await store.session(id)).head).toBe(4);
  });

  it("are refused when one of their deltas is larger than the store takes", async () => {
    await using small = await createSessionStore({
      databaseUrl: database().url,
      maxEventCharacters: 200,
    });
    const id = await openSession();
    const texts = ["a", "b", "x".repeat(300)];

    await expect(
      small.appendRecords(id, [{ run: runOf(2, texts) }], { expectedSeq: 2 }),
    ).rejects.toMatchObject({ code: "EVENT_TOO_LARGE", index: 2 });
    await small.appendRecords(
      id,
      [
        {
          run: runOf(
            2,
            Array.from({ length: 300 }, () => "word"),
          ),
        },
      ],
      { expectedSeq: 2 },
    );
  });
});
