/** Brings the log and control tables up to date, and checks that a client and a database fit. */
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import { join } from "node:path";
import { SchemaOutdatedError, SchemaTooNewError } from "../errors.ts";
import type { Db, Queryable } from "./connect.ts";
import { packageRoot } from "./package-root.ts";
import { SCHEMA_VERSION, sqlState, toTurnlogError } from "./pg-errors.ts";

/** Held until the migrations are committed: the migrator's own transaction ends the one that takes it. */
const BEGIN_LOCKED =
  "begin; set local lock_timeout = '60s'; select pg_advisory_xact_lock(7486, 0)";
const BOOKKEEPING = {
  migrationsSchema: "turnlog_migrations",
  migrationsTable: "applied",
};

/**
 * Applies what is missing, in one transaction on one connection, under the advisory lock (7486, 0), so that several
 * processes may call it at once. Returns how many migrations were applied.
 * @throws SchemaTooNewError when the database no longer serves this version.
 */
export async function migrate(db: Db): Promise<{ readonly applied: number }> {
  const client = await db.dedicated();
  try {
    await client.query(BEGIN_LOCKED);
    await refuseTooNew(db);
    const before = await countApplied(db);
    await applyMigrations(drizzle(client), {
      migrationsFolder: migrationsFolder(),
      ...BOOKKEEPING,
    });
    return { applied: (await countApplied(db)) - before };
  } catch (error) {
    throw toTurnlogError(error);
  } finally {
    await client.end();
  }
}

/** The SQL of migrations that `migrate` would apply, in order. */
export async function pendingMigrations(db: Db): Promise<readonly string[]> {
  await refuseTooNew(db);
  const files = readMigrationFiles({ migrationsFolder: migrationsFolder() });
  return files
    .slice(await countApplied(db))
    .map((file) => file.sql.join(";\n"));
}

/**
 * Makes sure that this client can work on the database.
 * @throws SchemaOutdatedError, SchemaTooNewError
 */
export async function checkSchema(db: Queryable): Promise<void> {
  const row = await readVersion(db);
  if (row === null || row.version < SCHEMA_VERSION)
    throw new SchemaOutdatedError({
      found: row?.version ?? null,
      needed: SCHEMA_VERSION,
    });
  if (row.min_client_version > SCHEMA_VERSION)
    throw new SchemaTooNewError({
      found: row.min_client_version,
      supported: SCHEMA_VERSION,
    });
}

async function refuseTooNew(db: Queryable): Promise<void> {
  const row = await readVersion(db);
  if (row !== null && row.min_client_version > SCHEMA_VERSION)
    throw new SchemaTooNewError({
      found: row.min_client_version,
      supported: SCHEMA_VERSION,
    });
}

interface VersionRow {
  readonly version: number;
  readonly min_client_version: number;
}

async function readVersion(db: Queryable): Promise<VersionRow | null> {
  try {
    const [row] = await db.rows<VersionRow>({
      text: "select version, min_client_version from turnlog.schema",
    });
    return row ?? null;
  } catch (error) {
    if (error instanceof SchemaOutdatedError) return null;
    throw error;
  }
}

async function countApplied(db: Queryable): Promise<number> {
  try {
    const [row] = await db.rows<{ count: number }>({
      text: "select count(*) from turnlog_migrations.applied",
    });
    return row?.count ?? 0;
  } catch (error) {
    if (error instanceof SchemaOutdatedError || sqlState(error) === "42P01")
      return 0;
    throw error;
  }
}

function migrationsFolder(): string {
  return join(packageRoot(), "drizzle");
}
