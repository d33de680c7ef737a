/** Indexes and statistics of new builds, once the old sessions are in. */
import { sql } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import type { Db } from "../db/connect.ts";
import { buildSchema } from "../projector/open-session.ts";
import { buildIndexes } from "./build-ddl.ts";
import type { NewBuild } from "./rebuild-row.ts";

/**
 * Creates what is missing, beside the projectors that write the tables meanwhile, and drops first what an earlier try
 * left unfinished. Waits for every transaction that is older: the caller has seen to it that there is none.
 * Locks: share update exclusive on the tables, one after the other.
 */
export async function createIndexes(
  db: Db,
  builds: readonly NewBuild[],
): Promise<void> {
  for (const { build, projection } of builds) {
    const schema = buildSchema(build);
    const states = await readIndexes(db, schema);
    for (const index of buildIndexes(projection, build)) {
      const isValid = states.get(index.name);
      if (isValid === true) continue;
      if (isValid === false)
        await db.orm.execute(
          sql`drop index concurrently ${sql.identifier(schema)}.${sql.identifier(index.name)}`,
        );
      await db.orm.execute(index.createConcurrently);
    }
    for (const table of projection.tables)
      await db.orm.execute(
        sql`analyze ${sql.identifier(schema)}.${sql.identifier(getTableConfig(table).name)}`,
      );
  }
}

/** Whether each index of a schema is finished. */
async function readIndexes(
  db: Db,
  schema: string,
): Promise<ReadonlyMap<string, boolean>> {
  const rows = await db.rows<{ name: string; is_valid: boolean }>(
    {
      text: `
        select c.relname as name, i.indisvalid as is_valid
        from pg_index i
        join pg_class c on c.oid = i.indexrelid
        join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1`,
    },
    [schema],
  );
  return new Map(rows.map((row) => [row.name, row.is_valid]));
}
