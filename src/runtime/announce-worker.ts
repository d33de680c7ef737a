/** Says every few seconds that this projector runs, and which versions it has. */
import { randomUUID } from "node:crypto";
import {
  announceWorker,
  ANNOUNCE_MS,
  retireWorker,
} from "../builds/workers.ts";
import type { Db } from "../db/connect.ts";
import type { Logger } from "../logger.ts";
import type { Projection } from "../projector/projection.ts";

/** Announces once before it returns; a failure later on is logged, and the next turn tries again. */
export async function keepAnnounced(
  db: Db,
  projections: readonly Projection[],
  logger: Logger,
): Promise<AsyncDisposable> {
  const worker = randomUUID();
  await announceWorker(db, worker, projections);
  let inHand: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    inHand = announceWorker(db, worker, projections).catch((error: unknown) =>
      logger.warn({ err: error }, "could not say that this projector runs"),
    );
  }, ANNOUNCE_MS);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await inHand;
      await retireWorker(db, worker).catch(() => undefined);
    },
  };
}
