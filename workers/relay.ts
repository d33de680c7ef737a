/** A relay process: drains the outbox and rings the queue until told to stop. Any number may stand by. */
import { startRelayPart } from "../src/runtime/pipeline.ts";
import { runWorker } from "../src/runtime/run-worker.ts";

await runWorker("relay", startRelayPart);
