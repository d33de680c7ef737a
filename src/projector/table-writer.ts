/** Writes coalesced rows set-wise: one statement a table and kind, rows as arrays of columns. */
import { getTableColumns, sql, type SQL } from "drizzle-orm";
import {
  getTableConfig,
  PgDialect,
  type PgColumn,
  type PgTable,
} from "drizzle-orm/pg-core";
import type { Queryable, Statement } from "../db/connect.ts";
import {
  keyColumnsOf,
  type RowValues,
  type TableChanges,
} from "./row-buffer.ts";

const dialect = new PgDialect();

/** Applies the changes of one table of a build. Locks: the rows it changes, until the transaction ends. */
export async function writeTable(
  db: Queryable,
  schema: string,
  table: PgTable,
  changes: TableChanges,
): Promise<void> {
  const columns = getTableColumns(table);
  const key = keyColumnsOf(table);
  const target = sql`${sql.identifier(schema)}.${sql.identifier(getTableConfig(table).name)}`;
  if (changes.deletes.length > 0)
    await runOver(
      db,
      deleteStatement(target, pick(columns, key)),
      columns,
      key,
      changes.deletes,
    );
  if (changes.upserts.length > 0)
    await runOver(
      db,
      upsertStatement(target, columns, key),
      columns,
      Object.keys(columns),
      changes.upserts,
    );
  for (const [names, rows] of byColumns(changes.updates)) {
    const values = names.filter((name) => !key.includes(name));
    if (values.length > 0)
      await runOver(
        db,
        updateStatement(target, columns, key, values),
        columns,
        [...key, ...values],
        rows,
      );
  }
}

/** Removes every row of a session from a table of a build. */
export async function clearSession(
  db: Queryable,
  schema: string,
  table: PgTable,
  sessionId: string,
): Promise<void> {
  const target = sql`${sql.identifier(schema)}.${sql.identifier(getTableConfig(table).name)}`;
  await db.rows(
    compile(sql`delete from ${target} where session_id = ${sessionId}`),
    [sessionId],
  );
}

/** Columns of a table by their names in TypeScript. */
export type Columns = Readonly<Record<string, PgColumn>>;

function upsertStatement(
  target: SQL,
  columns: Columns,
  key: readonly string[],
): Statement {
  const others = Object.keys(columns).filter((name) => !key.includes(name));
  const changes = others.map(
    (name) => sql`${nameOf(columns, name)} = excluded.${nameOf(columns, name)}`,
  );
  const names = list(Object.keys(columns).map((name) => nameOf(columns, name)));
  const resolution =
    changes.length === 0
      ? sql`do nothing`
      : sql`do update set ${list(changes)}`;
  return compile(sql`
    insert into ${target} (${names})
    select ${names} from ${rowsOf(columns, Object.keys(columns))}
    on conflict (${list(key.map((name) => nameOf(columns, name)))}) ${resolution}`);
}

function updateStatement(
  target: SQL,
  columns: Columns,
  key: readonly string[],
  values: readonly string[],
): Statement {
  const changes = values.map(
    (name) => sql`${nameOf(columns, name)} = n.${nameOf(columns, name)}`,
  );
  return compile(sql`
    update ${target} t
    set ${list(changes)}
    from ${rowsOf(columns, [...key, ...values])}
    where ${matching(columns, key)}`);
}

function deleteStatement(target: SQL, key: Columns): Statement {
  return compile(sql`
    delete from ${target} t
    using ${rowsOf(key, Object.keys(key))}
    where ${matching(key, Object.keys(key))}`);
}

/** `unnest($1::text[], …) as n (a, …)`: the placeholders are filled by `runOver`. */
export function rowsOf(columns: Columns, names: readonly string[]): SQL {
  const arrays = names.map(
    (name) => sql`${name}::${sql.raw(arrayTypeOf(columns[name]))}`,
  );
  return sql`unnest(${list(arrays)}) as n (${list(names.map((name) => nameOf(columns, name)))})`;
}

function matching(columns: Columns, key: readonly string[]): SQL {
  return sql.join(
    key.map(
      (name) => sql`t.${nameOf(columns, name)} = n.${nameOf(columns, name)}`,
    ),
    sql` and `,
  );
}

function arrayTypeOf(column: PgColumn | undefined): string {
  const type = column?.getSQLType() ?? "text";
  return `${type.replace(/ collate .*$/, "")}[]`;
}

/** The column's name in SQL. */
export function nameOf(columns: Columns, name: string): SQL {
  return sql`${sql.identifier(columns[name]?.name ?? name)}`;
}

function list(parts: readonly SQL[]): SQL {
  return sql.join([...parts], sql`, `);
}

/** Text of a statement whose placeholders stand in the order of their values. */
export function compile(statement: SQL): Statement {
  return { text: dialect.sqlToQuery(statement).sql };
}

function runOver(
  db: Queryable,
  statement: Statement,
  columns: Columns,
  names: readonly string[],
  rows: readonly RowValues[],
): Promise<object[]> {
  return db.rows(statement, columnValues(columns, names, rows));
}

/** The values of each column, as the driver takes them: the parameters of `rowsOf`. */
export function columnValues(
  columns: Columns,
  names: readonly string[],
  rows: readonly RowValues[],
): readonly (readonly unknown[])[] {
  return names.map((name) => {
    const column = columns[name];
    return rows.map((row) => {
      const value = row[name] ?? null;
      return value === null || column === undefined
        ? null
        : column.mapToDriverValue(value);
    });
  });
}

function pick(columns: Columns, names: readonly string[]): Columns {
  return Object.fromEntries(
    names.flatMap((name) =>
      columns[name] === undefined ? [] : [[name, columns[name]]],
    ),
  );
}

/** Updates may name different columns; those with the same set go together. */
function byColumns(
  updates: readonly RowValues[],
): Map<readonly string[], RowValues[]> {
  const groups = new Map<
    string,
    { readonly names: readonly string[]; readonly rows: RowValues[] }
  >();
  for (const row of updates) {
    const names = Object.keys(row).toSorted();
    const group = groups.get(names.join()) ?? { names, rows: [] };
    groups.set(names.join(), group);
    group.rows.push(row);
  }
  return new Map([...groups.values()].map(({ names, rows }) => [names, rows]));
}
