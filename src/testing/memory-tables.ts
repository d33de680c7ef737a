/** The tables of a projection as maps, written as a build's tables are. */
import { getTableColumns } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import {
  keyColumnsOf,
  type RowBuffer,
  type RowValues,
} from "../projector/row-buffer.ts";

/** Rows by table, each with all its columns by their names in TypeScript, in order of their keys. */
export type TableRows = Readonly<Record<string, readonly RowValues[]>>;

export class MemoryTables {
  readonly #tables: ReadonlyMap<PgTable, Map<string, RowValues>>;

  constructor(tables: readonly PgTable[]) {
    this.#tables = new Map(tables.map((table) => [table, new Map()]));
  }

  /** Writes what the buffer holds, and empties it. */
  write(buffer: RowBuffer): void {
    for (const [table, changes] of buffer.take()) {
      const rows = this.#tables.get(table);
      for (const row of changes.deletes) rows?.delete(keyOf(table, row));
      for (const row of changes.upserts)
        rows?.set(keyOf(table, row), wholeRow(table, row));
      for (const row of changes.updates) {
        const before = rows?.get(keyOf(table, row));
        if (before !== undefined)
          rows?.set(keyOf(table, row), { ...before, ...row });
      }
    }
  }

  rows(): TableRows {
    return Object.fromEntries(
      [...this.#tables].map(([table, rows]) => [
        getTableConfig(table).name,
        [...rows.values()].toSorted((a, b) => compare(table, a, b)),
      ]),
    );
  }
}

function keyOf(table: PgTable, row: RowValues): string {
  return JSON.stringify(keyColumnsOf(table).map((name) => row[name]));
}

/** Columns left out are null. */
function wholeRow(table: PgTable, row: RowValues): RowValues {
  return Object.fromEntries(
    Object.keys(getTableColumns(table)).map((name) => [
      name,
      row[name] ?? null,
    ]),
  );
}

function compare(table: PgTable, a: RowValues, b: RowValues): number {
  for (const name of keyColumnsOf(table)) {
    const [x, y] = [a[name], b[name]];
    if (typeof x === "number" && typeof y === "number" && x !== y) return x - y;
    const [left, right] = [String(x), String(y)];
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
