/** The SQL that makes a build: its schema, tables, indexes, and the views over them, from the table definitions. */
import { sql, type SQL } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { buildSchema } from "../projector/open-session.ts";
import type { Projection, ReadView } from "../projector/projection.ts";

/** Statements that create the schema and the tables of a build with their keys, in order. */
export function buildTables(
  projection: Projection,
  build: number,
): readonly SQL[] {
  const schema = sql.identifier(buildSchema(build));
  return [
    sql`create schema ${schema}`,
    ...projection.tables.map((table) => tableStatement(schema, table)),
  ];
}

/** An index of a build beside the keys of its tables. */
export interface BuildIndex {
  readonly name: string;
  readonly create: SQL;
  /** The same beside running reads and writes; not in a transaction. An index that it left unfinished must be dropped first. */
  readonly createConcurrently: SQL;
}

export function buildIndexes(
  projection: Projection,
  build: number,
): readonly BuildIndex[] {
  const schema = sql.identifier(buildSchema(build));
  return projection.tables.flatMap((table) => {
    const config = getTableConfig(table);
    return config.indexes.map(({ config: index }) => {
      const indexed = index.columns.flatMap((column) =>
        "name" in column ? [column] : [],
      );
      const name = index.name ?? config.name;
      const on = sql`${sql.identifier(name)} on ${schema}.${sql.identifier(config.name)} (${names(indexed)})`;
      return {
        name,
        create: sql`create index ${on}`,
        createConcurrently: sql`create index concurrently ${on}`,
      };
    });
  });
}

/** Statements that point the read views of a projection at a build. */
export function buildViews(
  projection: Projection,
  build: number,
): readonly SQL[] {
  const table = (name: string): string => `${buildSchema(build)}.${name}`;
  return projection.views.flatMap((view) => viewStatements(view, table));
}

/** Statements that make a read view, or point it at other tables, and say what it means. */
export function viewStatements(
  view: ReadView,
  table: (name: string) => string,
): readonly SQL[] {
  const name = sql`turnlog_read.${sql.identifier(view.name)}`;
  return [
    sql`create or replace view ${name} as ${sql.raw(view.select(table))}`,
    ...comments(name, view),
  ];
}

function comments(name: SQL, view: ReadView): readonly SQL[] {
  const columns = Object.entries(view.columns ?? {}).map(
    ([column, meaning]) =>
      sql`comment on column ${name}.${sql.identifier(column)} is ${literal(meaning)}`,
  );
  return view.about === undefined
    ? columns
    : [sql`comment on view ${name} is ${literal(view.about)}`, ...columns];
}

/** Comments can't be parameters: their quotes are doubled. */
function literal(text: string): SQL {
  return sql.raw(`'${text.replaceAll("'", "''")}'`);
}

type Identifier = ReturnType<typeof sql.identifier>;

function tableStatement(schema: Identifier, table: PgTable): SQL {
  const config = getTableConfig(table);
  const name = sql`${schema}.${sql.identifier(config.name)}`;
  const columns = config.columns.map(
    (column) =>
      sql`${sql.identifier(column.name)} ${sql.raw(column.getSQLType())}${column.notNull ? sql` not null` : sql``}`,
  );
  const keys = config.primaryKeys.map(
    (key) =>
      sql`constraint ${sql.identifier(key.getName())} primary key (${names(key.columns)})`,
  );
  return sql`create table ${name} (${sql.join([...columns, ...keys], sql`, `)})`;
}

function names(
  columns: readonly { readonly name?: string | undefined }[],
): SQL {
  return sql.join(
    columns.map((column) => sql`${sql.identifier(column.name ?? "")}`),
    sql`, `,
  );
}
