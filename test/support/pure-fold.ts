/** What a projection's tables must hold: the fold over a whole log in memory, with maps for tables. */
import { getTableColumns } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { isDelta, type SessionEvent } from "../../src/events/event.ts";
import type { SessionHeader } from "../../src/events/header.ts";
import type { Projection } from "../../src/projector/projection.ts";
import {
  keyColumnsOf,
  type RowChange,
  type RowValues,
} from "../../src/projector/row-buffer.ts";

/** Rows by table name, each by the names of its columns, in key order. */
export type TableRows = Readonly<Record<string, readonly RowValues[]>>;

/** Folds the facts of a log and the deltas before the last of them, as the projector does. */
export function pureFold(
  projection: Projection,
  header: SessionHeader,
  events: readonly SessionEvent[],
): TableRows {
  const tables = new Map<PgTable, Map<string, RowValues>>(
    projection.tables.map((table) => [table, new Map()]),
  );
  const fold = projection.fold(header, "", (change) =>
    applyChange(tables, change),
  );
  const factsEnd = events.findLastIndex((event) => !isDelta(event)) + 1;
  for (const event of events.slice(0, factsEnd))
    fold.apply({ ...event, sessionId: header.id });
  return Object.fromEntries(
    [...tables].map(([table, rows]) => [
      getTableConfig(table).name,
      sorted(
        [...rows.values()].map((row) => named(table, row)),
        table,
      ),
    ]),
  );
}

/** The order in which tables are compared: by primary key. */
export function sorted(
  rows: readonly RowValues[],
  table: PgTable,
): readonly RowValues[] {
  const columns = getTableColumns(table);
  const key = keyColumnsOf(table).map((name) => columns[name]?.name ?? name);
  const text = (row: RowValues): string =>
    key.map((name) => String(row[name]).padStart(20, "0")).join();
  return rows.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}

function applyChange(
  tables: ReadonlyMap<PgTable, Map<string, RowValues>>,
  change: RowChange,
): void {
  const rows = tables.get(change.table);
  const key = JSON.stringify(
    keyColumnsOf(change.table).map((name) => change.values[name]),
  );
  const existing = rows?.get(key);
  if (change.kind === "upsert") rows?.set(key, change.values);
  else if (change.kind === "delete") rows?.delete(key);
  else if (existing !== undefined)
    rows?.set(key, { ...existing, ...change.values });
}

function named(table: PgTable, row: RowValues): RowValues {
  return Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([name, column]) => [
      column.name,
      row[name] ?? null,
    ]),
  );
}
