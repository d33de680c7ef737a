/** What a projection must be so that builds of it can be made, written, cleared, compared and spread over servers. */
import {
  getTableConfig,
  type PgColumn,
  type PgTable,
} from "drizzle-orm/pg-core";
import { ProjectionInvalidError } from "../errors.ts";
import { isStorageTag } from "../events/vocabulary.ts";

interface Definition {
  readonly name: string;
  readonly version: number;
  readonly tables: readonly PgTable[];
  readonly handles: readonly string[] | "all";
}

/** Names go into schemas, views and logs as they are. */
const NAME = /^[a-z][a-z0-9_]{0,47}$/;
/** Columns that a build's statements can carry as arrays of values. */
const TYPES =
  /^(text|text collate "C"|varchar(\(\d+\))?|smallint|integer|bigint|boolean|real|double precision|numeric(\(\d+(, ?\d+)?\))?|json|jsonb|uuid|date|timestamp( \(\d\))?( with time zone)?)$/;

/** @throws ProjectionInvalidError for the first thing that is wrong */
export function checkDefinition({
  name,
  version,
  tables,
  handles,
}: Definition): void {
  const refuse = (reason: string): never => {
    throw new ProjectionInvalidError({ projection: name, table: null, reason });
  };
  if (!NAME.test(name))
    refuse("its name must be 1 to 48 of a-z 0-9 _ and begin with a letter");
  if (!Number.isSafeInteger(version) || version < 1)
    refuse("its version must be a whole number from 1");
  if (handles !== "all") checkHandles(handles, refuse);
  if (tables.length === 0) refuse("it must have a table");
  const names = tables.map((table) => getTableConfig(table).name);
  if (new Set(names).size < names.length)
    refuse("its tables must have different names");
  for (const table of tables) checkTable(name, table);
}

function checkHandles(
  handles: readonly string[],
  refuse: (reason: string) => never,
): void {
  if (handles.length === 0)
    refuse('it must handle an event type; "all" handles every one');
  const tag = handles.find((type) => type === "" || isStorageTag(type));
  if (tag !== undefined)
    refuse(
      `it can't handle ${JSON.stringify(tag)}, which is no event type; streamed deltas are assistant/chunk`,
    );
}

function checkTable(projection: string, table: PgTable): void {
  const config = getTableConfig(table);
  const refuse = (reason: string): never => {
    throw new ProjectionInvalidError({
      projection,
      table: config.name,
      reason,
    });
  };
  if (!NAME.test(config.name))
    refuse("its name must be 1 to 48 of a-z 0-9 _ and begin with a letter");
  if (config.schema !== undefined)
    refuse("it must be a pgTable without a schema: each build has its own");
  const names = config.primaryKeys[0]?.columns.map(({ name }) => name) ?? [];
  const key = names.map((name) => config.columns.find((c) => c.name === name));
  if (names[0] !== "session_id")
    refuse(
      "it must have a primaryKey({ name, columns }) whose first column is session_id",
    );
  if (key[0]?.getSQLType() !== 'text collate "C"')
    refuse('session_id must be idText("session_id"): text collate "C"');
  const loose = key.find((column) => column?.notNull === false);
  if (loose !== undefined)
    refuse(`${loose.name} is in the primary key and must be notNull()`);
  if (config.uniqueConstraints.length > 0 || config.columns.some(isUnique))
    refuse("it can't have unique constraints beside its primary key");
  if (config.indexes.some((index) => index.config.unique))
    refuse("it can't have unique indexes beside its primary key");
  if (config.foreignKeys.length > 0) refuse("it can't have foreign keys");
  if (config.checks.length > 0) refuse("it can't have checks");
  for (const column of config.columns) checkColumn(column, refuse);
}

function isUnique(column: PgColumn): boolean {
  return column.isUnique;
}

function checkColumn(
  column: PgColumn,
  refuse: (reason: string) => never,
): void {
  const type = column.getSQLType();
  if (!TYPES.test(type))
    refuse(
      `${column.name} is of type ${type}; use text, integers, boolean, floats, numeric, json, jsonb, uuid, date or timestamp`,
    );
  if (column.hasDefault || column.generated !== undefined)
    refuse(
      `${column.name} can't have a default or be generated: rows are written whole, and null is what is left out`,
    );
}
