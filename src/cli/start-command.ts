/** `turnlog start`: relay and projector until told to stop. */
import { pino } from "pino";
import { openContext, type CommonOptions } from "./context.ts";
import { queueOf } from "../runtime/open-queue.ts";
import { startHealth } from "../runtime/start-health.ts";
import { startPipeline } from "../runtime/pipeline.ts";
import { untilStopped } from "../runtime/signals.ts";

export interface StartOptions extends CommonOptions {
  readonly metricsPort?: number;
}

export async function startCommand(options: StartOptions): Promise<number> {
  const stopped = untilStopped();
  await using context = await openContext(options);
  const { db, config, projections } = context;
  const logger = pino({ level: config.logLevel });
  await using _pipeline = await startPipeline({
    db,
    config,
    logger,
    projections,
  });
  await using _health = await startHealth(
    { db, config, logger },
    options.metricsPort ?? config.metricsPort,
  );
  if (context.isEmbedded)
    console.error(`Embedded Postgres: ${context.databaseUrl}`);
  logger.info(
    {
      projections: projections.map(({ name }) => name),
      queue: queueOf(config),
    },
    "started",
  );
  const signal = await stopped;
  logger.info({ signal }, "stopping");
  return 0;
}
