/** Relay and projector in this process, for as long as a test needs them. */
import { readConfig } from "../../src/config.ts";
import type { Db } from "../../src/db/connect.ts";
import { silentLogger } from "../../src/logger.ts";
import { startPipeline, untilCaughtUp } from "../../src/runtime/pipeline.ts";

/** Runs a pipeline until outbox and work are empty. */
export async function catchUp(db: Db): Promise<void> {
  await using _pipeline = await startPipeline({
    db,
    config: readConfig({}, {}),
    logger: silentLogger,
  });
  await untilCaughtUp(db);
}
