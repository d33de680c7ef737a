/** Compares rows made in memory with the rows of a table, in the database, value by value as text. */
import { getTableColumns, sql, type SQL } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import type { Queryable } from "../db/connect.ts";
import type { SessionId } from "../events/ids.ts";
import { keyColumnsOf, type RowValues } from "../projector/row-buffer.ts";
import {
  columnValues,
  compile,
  nameOf,
  rowsOf,
} from "../projector/table-writer.ts";

/** A row that is not as the fold makes it. Values are text as Postgres prints it. */
export interface RowDifference {
  readonly table: string;
  /** Primary key, by column. */
  readonly key: Readonly<Record<string, string | null>>;
  /** First column that differs; null when one side has no such row. */
  readonly column: string | null;
  /** `row`, or none; of a column its value. */
  readonly live: string | null;
  readonly refolded: string | null;
}

interface DifferingRow {
  readonly key: readonly (string | null)[];
  readonly live: readonly (string | null)[];
  readonly refolded: readonly (string | null)[];
  readonly is_missing: boolean;
  readonly is_extra: boolean;
}

/** The first difference by primary key; null when the session's rows are just these. */
export async function firstDifference(
  db: Queryable,
  schema: string,
  table: PgTable,
  sessionId: SessionId,
  rows: readonly RowValues[],
): Promise<RowDifference | null> {
  const columns = getTableColumns(table);
  const names = Object.keys(columns);
  const key = keyColumnsOf(table);
  const { name: tableName } = getTableConfig(table);
  const name = (column: string): SQL => nameOf(columns, column);
  const texts = (side: SQL): SQL =>
    sql`array[${list(names.map((column) => sql`${side}.${name(column)}::text`))}]::text[]`;
  const keys = key.map(
    (column) => sql`coalesce(l.${name(column)}, r.${name(column)})`,
  );
  const statement = compile(sql`
    select array[${list(keys.map((column) => sql`${column}::text`))}]::text[] as key,
           ${texts(sql`l`)} as live, ${texts(sql`r`)} as refolded,
           l.session_id is null as is_missing, r.session_id is null as is_extra
    from (select ${list(names.map(name))} from ${rowsOf(columns, names)}) r
    full join (
      select ${list(names.map(name))}
      from ${sql.identifier(schema)}.${sql.identifier(tableName)}
      where session_id = ${sessionId}
    ) l on ${sql.join(
      key.map((column) => sql`l.${name(column)} = r.${name(column)}`),
      sql` and `,
    )}
    where ${texts(sql`l`)} is distinct from ${texts(sql`r`)}
    order by ${list(keys)}
    limit 1`);
  const values = [...columnValues(columns, names, rows), sessionId];
  const [found] = await db.rows<DifferingRow>(statement, values);
  if (found === undefined) return null;
  const at = names.findIndex((_, i) => found.live[i] !== found.refolded[i]);
  const isWhole = found.is_missing || found.is_extra;
  return {
    table: tableName,
    key: Object.fromEntries(
      key.map((column, i) => [
        columns[column]?.name ?? column,
        found.key[i] ?? null,
      ]),
    ),
    column: isWhole ? null : (columns[names[at] ?? ""]?.name ?? null),
    live: isWhole ? presence(found.is_missing) : (found.live[at] ?? null),
    refolded: isWhole ? presence(found.is_extra) : (found.refolded[at] ?? null),
  };
}

function presence(isAbsent: boolean): string | null {
  return isAbsent ? null : "row";
}

function list(parts: readonly SQL[]): SQL {
  return sql.join([...parts], sql`, `);
}
