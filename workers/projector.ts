/** A projector process: folds sessions as they are rung for until told to stop. Any number share the queue. */
import { startProjectorPart } from "../src/runtime/pipeline.ts";
import { runWorker } from "../src/runtime/run-worker.ts";

await runWorker("projector", startProjectorPart);
