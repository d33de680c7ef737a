/** What every command works with: the settings, a database that is up, and a store over it. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { ensureBuilds } from "../builds/ensure-builds.ts";
import { readConfig, type Config } from "../config.ts";
import { connect, type Db } from "../db/connect.ts";
import { checkSchema, migrate } from "../db/migrate.ts";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "../embedded/embedded-postgres.ts";
import type { Projection } from "../projector/projection.ts";
import { loadProjections } from "../runtime/user-projections.ts";
import { storeOver, type SessionStore } from "../session-store.ts";

export interface CommonOptions {
  readonly databaseUrl?: string;
  readonly json?: boolean;
}

export interface Context extends AsyncDisposable {
  readonly config: Config;
  readonly db: Db;
  readonly store: SessionStore;
  /** The projections of this program. */
  readonly projections: readonly Projection[];
  /** The database is the embedded one, not the user's own. */
  readonly isEmbedded: boolean;
  readonly databaseUrl: string;
}

/**
 * Connects to the given database, or starts the embedded one and brings it up to date. A database of the user's own is
 * only changed by `turnlog migrate`.
 * @throws ConfigInvalidError, DatabaseUnavailableError, EmbeddedUnavailableError, SchemaOutdatedError, SchemaTooNewError
 */
export async function openContext(
  options: CommonOptions,
  need: { readonly schema: boolean } = { schema: true },
): Promise<Context> {
  const config = readConfig({ databaseUrl: options.databaseUrl });
  const projections = await loadProjections(config.configFile);
  const embedded =
    config.databaseUrl === null ? await startEmbedded(config) : null;
  const databaseUrl = config.databaseUrl ?? embedded?.databaseUrl ?? "";
  const db = connect({
    databaseUrl,
    poolSize: config.poolSize,
    applicationName: "turnlog",
    preparedStatements: config.preparedStatements,
  });
  const dispose = async (): Promise<void> => {
    await db.close();
    await embedded?.close();
  };
  try {
    if (embedded !== null) await prepare(db, projections);
    else if (need.schema) await checkSchema(db);
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    config,
    db,
    store: storeOver(db),
    projections,
    isEmbedded: embedded !== null,
    databaseUrl,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Brings the schema up to date and gives new projections their first build. */
export async function prepare(
  db: Db,
  projections: readonly Projection[],
): Promise<{ readonly applied: number; readonly built: readonly string[] }> {
  const { applied } = await migrate(db);
  return { applied, built: await ensureBuilds(db, projections) };
}

function startEmbedded(config: Config): Promise<EmbeddedPostgres> {
  if (process.stderr.isTTY && !existsSync(resolve(config.dataDirectory)))
    console.error(
      `Setting up an embedded Postgres in ${resolve(config.dataDirectory)} …`,
    );
  return startEmbeddedPostgres({
    directory: resolve(config.dataDirectory),
    onNotice: (line) => console.error(line),
  });
}
