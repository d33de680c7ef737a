import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { exampleQueries } from "../../scripts/example-queries.ts";
import { documentedViews } from "../../scripts/read-views.ts";
import type { JsonValue } from "../../src/events/json.ts";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { anything, collect, deltas, openStep } from "../support/events.ts";
import { exampleFiles } from "../support/logs.ts";
import { catchUp } from "../support/pipeline.ts";
import { readLog } from "../support/reference-log.ts";

const database = useTestDatabase();
const ids: string[] = [];

beforeAll(async () => {
  const { db, store } = database();
  for (const file of exampleFiles())
    ids.push((await appendLog(store, readLog(file), 500)).header.id);
  await catchUp(db);
});

describe.each(documentedViews())(
  "the view $name",
  ({ name, about, columns }) => {
    it("has the columns that its relation names, each with its comment", async () => {
      const found = await database().db.rows(
        {
          text: `
          select a.attname as name, format_type(a.atttypid, a.atttypmod) as type,
                 col_description(a.attrelid, a.attnum) as meaning
          from pg_attribute a
          where a.attrelid = to_regclass($1) and a.attnum > 0
          order by a.attnum`,
        },
        [`turnlog_read.${name}`],
      );

      expect(found).toEqual(
        columns.map((column) => ({
          name: column.name,
          type: column.type,
          meaning: column.meaning,
        })),
      );
      expect(columns.filter(({ meaning }) => meaning === "")).toEqual([]);
    });

    it("says what a row is", async () => {
      const [comment] = await database().db.rows<{ text: string }>(
        { text: "select obj_description(to_regclass($1)) as text" },
        [`turnlog_read.${name}`],
      );

      expect(comment?.text).toBe(about);
      expect(about).not.toBe("");
    });

    it("has no null where its relation says so", async () => {
      const whole = columns.filter(({ isNullable }) => !isNullable);
      const rows = await database().db.rows({
        text: `
        select 1
        from turnlog_read.${name}
        where ${whole.map((column) => `${column.name} is null`).join(" or ")}
        limit 1`,
      });

      expect(rows).toEqual([]);
    });

    it("has three example queries that run", async () => {
      const queries = exampleQueries[name] ?? [];
      expect(queries).toHaveLength(3);
      for (const { sql } of queries)
        await expect(
          database().db.rows(
            { text: sql },
            sql.includes("$1") ? [ids[0] ?? ""] : [],
          ),
        ).resolves.toBeDefined();
    });
  },
);

interface EventRow {
  readonly seq: number;
  readonly type: string;
  readonly time_ms: number;
  readonly data: JsonValue;
}

function eventRows(sessionId: string): Promise<EventRow[]> {
  return database().db.rows<EventRow>(
    {
      text: "select seq, type, time_ms, data from turnlog_read.events where session_id = $1 order by seq",
    },
    [sessionId],
  );
}

/** What jsonb can hold of a value. */
function sanitised(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "string"
      ? inner.replaceAll("\0", "\uFFFD").toWellFormed()
      : inner,
  );
  return JSON.parse(text);
}

describe("the view events", () => {
  it("gives the log, each delta by itself", async () => {
    for (const id of ids) {
      const events = await collect(database().store, id);
      const rows = await eventRows(id);

      expect(rows).toEqual(
        events.map(({ seq, type, time, data }) => ({
          seq,
          type,
          time_ms: time,
          data: sanitised(data),
        })),
      );
    }
  });

  it("shows what jsonb can't hold as U+FFFD, and nothing else (B001)", async () => {
    const { store } = database();
    const id = randomUUID();
    const data = [
      "a\0b\ud83d",
      String.raw`\u0000 \\ud83d`,
      "\\\0\\\\\ude00\0\0",
      "😀 \\",
      { "k\0": 1 },
    ];
    await store.append(id, [...openStep(), ...deltas(["x\0", "\ud83d", "z"])], {
      expectedSeq: 0,
    });
    await store.append(id, [anything(data)], { expectedSeq: 5 });

    const rows = await eventRows(id);

    expect(rows.at(-1)?.data).toEqual([
      ...data.slice(0, 4).map(sanitised),
      { "k\uFFFD": 1 },
    ]);
    expect(rows.slice(2, 5).map((row) => row.data)).toEqual(
      ["x\uFFFD", "\uFFFD", "z"].map((text) => ({
        turn: 1,
        step: 1,
        chunk: { type: "text-delta", index: 0, text },
      })),
    );
  });
});
