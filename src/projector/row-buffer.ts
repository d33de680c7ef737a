/** Changes of rows between two writes, coalesced: each row is written once, as it is in the end. */
import { getTableColumns } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";

/** Columns by their names in TypeScript. */
export type RowValues = Readonly<Record<string, unknown>>;

export interface RowChange {
  readonly table: PgTable;
  readonly kind: "upsert" | "update" | "delete";
  readonly values: RowValues;
}

/** What is left to write of one table. */
export interface TableChanges {
  readonly upserts: readonly RowValues[];
  readonly updates: readonly RowValues[];
  readonly deletes: readonly RowValues[];
}

export class RowBuffer {
  readonly #tables = new Map<
    PgTable,
    { readonly key: readonly string[]; readonly rows: Map<string, RowChange> }
  >();

  /** Adds a change to what is there: an update of a pending row becomes part of it. */
  readonly add = (change: RowChange): void => {
    const entry = this.#tables.get(change.table) ?? {
      key: keyColumnsOf(change.table),
      rows: new Map(),
    };
    this.#tables.set(change.table, entry);
    const { rows } = entry;
    const key = JSON.stringify(
      entry.key.map((column) => change.values[column]),
    );
    const pending = rows.get(key);
    if (change.kind !== "update" || pending === undefined)
      rows.set(key, change);
    else if (pending.kind !== "delete")
      rows.set(key, {
        ...pending,
        values: { ...pending.values, ...change.values },
      });
  };

  /** The coalesced changes, and an empty buffer. */
  take(): ReadonlyMap<PgTable, TableChanges> {
    const taken = new Map<PgTable, TableChanges>();
    for (const [table, { rows }] of this.#tables) {
      const of = (kind: RowChange["kind"]): RowValues[] =>
        [...rows.values()]
          .filter((change) => change.kind === kind)
          .map((change) => change.values);
      taken.set(table, {
        upserts: of("upsert"),
        updates: of("update"),
        deletes: of("delete"),
      });
    }
    this.#tables.clear();
    return taken;
  }
}

/** Names in TypeScript of a table's primary key columns, in key order. */
export function keyColumnsOf(table: PgTable): readonly string[] {
  const key = getTableConfig(table).primaryKeys[0]?.columns ?? [];
  const names = Object.entries(getTableColumns(table));
  return key.map(
    (column) =>
      names.find(([, candidate]) => candidate.name === column.name)?.[0] ??
      column.name,
  );
}
