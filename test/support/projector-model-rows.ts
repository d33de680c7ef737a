/** A small table, changes of it at random, and what they do to a table that is a map. */
import fc from "fast-check";
import { boolean, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../../src/projections/columns.ts";
import type { RowChange, RowValues } from "../../src/projector/row-buffer.ts";

/** Every kind of column that read tables have, nullable and not. */
export const kindsTable = pgTable(
  "kinds",
  {
    sessionId: idText("session_id").notNull(),
    seq: safeBigint("seq").notNull(),
    line: text("a_line").notNull(),
    maybeLine: text("maybe_line"),
    count: safeBigint("count").notNull(),
    maybeCount: safeBigint("maybe_count"),
    isIt: boolean("is_it").notNull(),
    maybeIsIt: boolean("maybe_is_it"),
  },
  (table) => [
    primaryKey({ name: "kinds_pkey", columns: [table.sessionId, table.seq] }),
  ],
);

/** Text that Postgres can hold, that which its array syntax has a meaning for above all. */
const storable = fc.oneof(
  fc.constantFrom(
    "",
    "NULL",
    "null",
    "a,b",
    "{}",
    '{"a"}',
    '"',
    "\\",
    '\\"',
    "it's",
    "a\nb\r\n\tc",
    " padded ",
    "$1",
    "🇨🇳👩‍👩‍👧",
  ),
  fc
    .string({ unit: "binary" })
    .map((value) => value.replaceAll("\0", "").toWellFormed()),
);

const count = fc.maxSafeInteger();

/** Rows of the table by the names of its columns in TypeScript. */
export const kindsRow = fc.record({
  sessionId: fc.constantFrom("s", "{s,'}", "NULL"),
  seq: fc.nat(3),
  line: storable,
  maybeLine: fc.option(storable),
  count,
  maybeCount: fc.option(count),
  isIt: fc.boolean(),
  maybeIsIt: fc.option(fc.boolean()),
});

const kindsKey = ["sessionId", "seq"] as const;

/** Changes of rows with few keys; an update names some columns. */
export const kindsChange: fc.Arbitrary<RowChange> = fc.oneof(
  kindsRow.map((values) => change("upsert", values)),
  fc
    .tuple(
      kindsRow,
      fc.subarray(["line", "maybeLine", "count", "maybeCount", "isIt"]),
    )
    .map(([row, names]) =>
      change("update", only(row, [...kindsKey, ...names])),
    ),
  kindsRow.map((row) => change("delete", only(row, kindsKey))),
);

/** Applies a change to a table that is a map by key. */
export function applyToModel(
  model: Map<string, RowValues>,
  { kind, values }: RowChange,
): void {
  const key = kindsKeyOf(values);
  const existing = model.get(key);
  if (kind === "upsert") model.set(key, values);
  else if (kind === "delete") model.delete(key);
  else if (existing !== undefined) model.set(key, { ...existing, ...values });
}

export function kindsKeyOf(values: RowValues): string {
  return JSON.stringify(kindsKey.map((name) => values[name]));
}

function change(kind: RowChange["kind"], values: RowValues): RowChange {
  return { table: kindsTable, kind, values };
}

function only(row: RowValues, names: readonly string[]): RowValues {
  return Object.fromEntries(names.map((name) => [name, row[name]]));
}
