/** Relay and projector, wired by the queue: each by itself in a worker, or both in one process. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Db } from "../db/connect.ts";
import { projectSession } from "../projector/project-session.ts";
import { builtInProjections } from "../projections/registry.ts";
import type { Queue } from "../queue/queue.ts";
import { startRelay } from "../relay/relay.ts";
import { keepAnnounced } from "./announce-worker.ts";
import { openQueue, type Parts } from "./open-queue.ts";

/** Drains the outbox and rings the queue until disposed of. */
export async function startRelayPart(parts: Parts): Promise<AsyncDisposable> {
  const queue = await openQueue(parts);
  return inOrder(
    startRelay({ db: parts.db, queue, logger: parts.logger }),
    queue,
  );
}

/** Folds sessions as they are rung for until disposed of. */
export async function startProjectorPart(
  parts: Parts,
): Promise<AsyncDisposable> {
  const queue = await openQueue(parts);
  runProjector(queue, parts);
  return inOrder(queue, await announce(parts));
}

/** Both over one queue. */
export async function startPipeline(parts: Parts): Promise<AsyncDisposable> {
  const queue = await openQueue(parts);
  runProjector(queue, parts);
  return inOrder(
    startRelay({ db: parts.db, queue, logger: parts.logger }),
    queue,
    await announce(parts),
  );
}

/** A pipeline that leaves as much undone for this long is not getting any further. */
const STALLED_MS = 20_000;
const LOOK_MS = 20;

/** Waits until outbox and work list are empty. Returns false when nothing has moved for 20 s. */
export async function untilCaughtUp(
  db: Db,
  onProgress: (left: number) => void = () => undefined,
): Promise<boolean> {
  let last = Number.POSITIVE_INFINITY;
  let movedAt = performance.now();
  for (;;) {
    const left = await countLeft(db);
    onProgress(left);
    if (left === 0) return true;
    if (left !== last) movedAt = performance.now();
    else if (performance.now() - movedAt > STALLED_MS) return false;
    last = left;
    await sleep(LOOK_MS);
  }
}

async function countLeft(db: Db): Promise<number> {
  const [row] = await db.rows<{ left: number }>({
    text: "select (select count(*) from turnlog.outbox) + (select count(*) from turnlog.work) as left",
  });
  return row?.left ?? 0;
}

function runProjector(
  queue: Queue,
  { db, config, logger, projections = builtInProjections }: Parts,
): void {
  queue.run(
    async (sessionId) => {
      const again = await projectSession(
        { db, projections, logger },
        sessionId,
      );
      if (again) await queue.ring([sessionId]);
    },
    { concurrency: config.projectorConcurrency },
  );
}

/** Says that a projector runs here: a rollback asks for it. */
function announce({
  db,
  logger,
  projections = builtInProjections,
}: Parts): Promise<AsyncDisposable> {
  return keepAnnounced(db, projections, logger);
}

function inOrder(...parts: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const part of parts) await part[Symbol.asyncDispose]();
    },
  };
}
