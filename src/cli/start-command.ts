/** `turnlog start`: relay and projector until told to stop. */
import { pino } from "pino";
import { builtInProjections } from "../projections/registry.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { queueOf } from "../runtime/open-queue.ts";
import { startPipeline } from "../runtime/pipeline.ts";
import { untilStopped } from "../runtime/signals.ts";

export async function startCommand(options: CommonOptions): Promise<number> {
  const stopped = untilStopped();
  await using context = await openContext(options);
  const { db, config } = context;
  const logger = pino({ level: config.logLevel });
  await using _pipeline = await startPipeline({
    db,
    config,
    logger,
  });
  if (context.isEmbedded)
    console.error(`Embedded Postgres: ${context.databaseUrl}`);
  logger.info(
    {
      projections: builtInProjections.map(({ name }) => name),
      queue: queueOf(config),
    },
    "started",
  );
  const signal = await stopped;
  logger.info({ signal }, "stopping");
  return 0;
}
