import {
  integer,
  pgSchema,
  pgTable,
  primaryKey,
  serial,
  text,
  unique,
  uniqueIndex,
  type PgTable,
} from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { ProjectionInvalidError } from "../../src/errors.ts";
import { FORMAT_VERSION } from "../../src/events/header.ts";
import { idText } from "../../src/projections/columns.ts";
import { defineProjection } from "../../src/projector/projection.ts";

const sessionId = () => idText("session_id").notNull();
const good = pgTable(
  "good",
  { sessionId: sessionId(), seq: integer("seq").notNull(), note: text("note") },
  (table) => [primaryKey({ columns: [table.sessionId, table.seq] })],
);

function define(given: {
  readonly name?: string;
  readonly version?: number;
  readonly handles?: readonly string[] | "all";
  readonly tables?: Readonly<Record<string, PgTable>>;
}) {
  return defineProjection({
    name: "mine",
    version: 1,
    handles: "all",
    tables: { good },
    init: () => null,
    apply: (state: null) => state,
    ...given,
  });
}

describe("defineProjection", () => {
  it.each<[string, Parameters<typeof define>[0], RegExp]>([
    ["a name with capitals", { name: "Mine" }, /its name must be/],
    ["a name that is empty", { name: "" }, /its name must be/],
    ["version 0", { version: 0 }, /whole number from 1/],
    ["half a version", { version: 1.5 }, /whole number from 1/],
    ["nothing handled", { handles: [] }, /must handle an event type/],
    ["a storage tag", { handles: ["text-chunks"] }, /no event type/],
    ["no table", { tables: {} }, /must have a table/],
    ["two tables of one name", { tables: { a: good, b: good } }, /different/],
  ])("refuses %s", (_what, given, reason) => {
    expect(() => define(given)).toThrow(ProjectionInvalidError);
    expect(() => define(given)).toThrow(reason);
  });

  it.each<[string, PgTable, RegExp]>([
    ["no primary key", pgTable("t", { sessionId: sessionId() }), /primaryKey/],
    [
      "a key that begins with another column",
      pgTable(
        "t",
        { sessionId: sessionId(), id: text("id").notNull() },
        (t) => [primaryKey({ columns: [t.id, t.sessionId] })],
      ),
      /first column is session_id/,
    ],
    [
      "session ids of another collation",
      pgTable("t", { sessionId: text("session_id").notNull() }, (t) => [
        primaryKey({ columns: [t.sessionId] }),
      ]),
      /must be idText/,
    ],
    [
      "a key with a column that may be null",
      pgTable("t", { sessionId: sessionId(), seq: integer("seq") }, (t) => [
        primaryKey({ columns: [t.sessionId, t.seq] }),
      ]),
      /seq is in the primary key and must be notNull/,
    ],
    [
      "a serial",
      pgTable("t", { sessionId: sessionId(), id: serial("id") }, (t) => [
        primaryKey({ columns: [t.sessionId] }),
      ]),
      /id is of type serial/,
    ],
    [
      "a default",
      pgTable(
        "t",
        { sessionId: sessionId(), n: integer("n").default(1) },
        (t) => [primaryKey({ columns: [t.sessionId] })],
      ),
      /n can't have a default/,
    ],
    [
      "an array",
      pgTable("t", { sessionId: sessionId(), n: text("n").array() }, (t) => [
        primaryKey({ columns: [t.sessionId] }),
      ]),
      /n is of type text\[\]/,
    ],
    [
      "a unique constraint over sessions",
      pgTable("t", { sessionId: sessionId(), n: text("n") }, (t) => [
        primaryKey({ columns: [t.sessionId] }),
        unique().on(t.n),
      ]),
      /can't have unique constraints/,
    ],
    [
      "a unique index",
      pgTable("t", { sessionId: sessionId(), n: text("n") }, (t) => [
        primaryKey({ columns: [t.sessionId] }),
        uniqueIndex("n_idx").on(t.n),
      ]),
      /can't have unique indexes/,
    ],
    [
      "a schema of its own",
      pgSchema("mine").table("t", { sessionId: sessionId() }, (t) => [
        primaryKey({ columns: [t.sessionId] }),
      ]),
      /without a schema/,
    ],
  ])("refuses a table with %s, naming it", (_what, table, reason) => {
    const defining = () => define({ tables: { table } });

    expect(defining).toThrow(reason);
    expect(defining).toThrow(/^Projection mine, table t: /);
  });

  it("makes a view of each table, with all its columns, unless views are given", () => {
    const [view, ...others] = define({}).views;

    expect(others).toEqual([]);
    expect(view?.name).toBe("good");
    expect(view?.select((name) => `b7.${name}`)).toBe(
      'select "session_id", "seq", "note" from b7.good',
    );
  });

  it.each([
    ["another session's row", { sessionId: "other", seq: 1 }, /own session/],
    ["a row without its key", { sessionId: "s" }, /rows must have seq/],
  ])("stops a fold that writes %s", (_what, values, reason) => {
    const header = {
      version: FORMAT_VERSION,
      id: "s",
      createdAt: 0,
      delegationDepth: 0,
    } as const;
    const projection = defineProjection({
      name: "mine",
      version: 1,
      handles: "all",
      tables: { good },
      init: () => null,
      apply(state: null, _event, rows) {
        rows.good.delete(values);
        return state;
      },
    });
    const fold = projection.fold(header, "", () => undefined);
    const event = { type: "a/b", seq: 0, time: 0, data: null, sessionId: "s" };

    expect(() => fold.apply(event)).toThrow(reason);
  });
});
