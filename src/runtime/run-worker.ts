/** The frame of a worker process: settings, a given database, a logger, and an end at the first signal. */
import { pino, type Logger } from "pino";
import { readConfig, type Config } from "../config.ts";
import { connect, type Db } from "../db/connect.ts";
import { checkSchema } from "../db/migrate.ts";
import { ConfigInvalidError, TurnlogError } from "../errors.ts";
import type { Projection } from "../projector/projection.ts";
import { queueOf } from "./open-queue.ts";
import { untilStopped } from "./signals.ts";
import { startHealth } from "./start-health.ts";
import { loadProjections } from "./user-projections.ts";

export interface Worker {
  readonly config: Config;
  readonly db: Db;
  readonly logger: Logger;
  readonly projections: readonly Projection[];
}

/**
 * Starts what `start` returns and disposes of it when the process is told to stop. What keeps it from starting is
 * logged on one line; the exit code is 1, or 2 for wrong settings.
 */
export async function runWorker(
  name: string,
  start: (worker: Worker) => Promise<AsyncDisposable>,
): Promise<void> {
  const logger = pino({ base: { worker: name } });
  const stopped = untilStopped();
  try {
    const config = readConfig();
    logger.level = config.logLevel;
    const projections = await loadProjections(config.configFile);
    await using db = await connectForWorker(config, `turnlog-${name}`);
    await using _running = await start({ config, db, logger, projections });
    await using _health = await startHealth(
      { config, db, logger },
      config.metricsPort,
    );
    logger.info({ queue: queueOf(config) }, "started");
    logger.info({ signal: await stopped }, "stopping");
  } catch (error) {
    if (error instanceof TurnlogError)
      logger.fatal({ code: error.code }, error.message);
    else logger.fatal({ err: error }, "could not run");
    process.exitCode = error instanceof ConfigInvalidError ? 2 : 1;
  }
}

async function connectForWorker(
  config: Config,
  applicationName: string,
): Promise<Db> {
  const { databaseUrl, poolSize, preparedStatements } = config;
  if (databaseUrl === null)
    throw new ConfigInvalidError(
      "TURNLOG_DATABASE_URL must be set for a worker process.",
    );
  const db = connect({
    databaseUrl,
    poolSize,
    applicationName,
    preparedStatements,
  });
  try {
    await checkSchema(db);
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
