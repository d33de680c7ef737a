/** Relay and projector, wired by the queue: each by itself in a worker, or both in one process. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../config.ts";
import type { Db } from "../db/connect.ts";
import type { Logger } from "../logger.ts";
import { projectSession } from "../projector/project-session.ts";
import { builtInProjections } from "../projections/registry.ts";
import { createPostgresQueue } from "../queue/postgres/postgres-queue.ts";
import type { Queue } from "../queue/queue.ts";
import { startRelay } from "../relay/relay.ts";

export interface Parts {
  readonly db: Db;
  readonly config: Config;
  readonly logger: Logger;
}

/** Drains the outbox and rings the queue until disposed of. */
export function startRelayPart(parts: Parts): AsyncDisposable {
  const queue = openQueue(parts);
  return inOrder(
    startRelay({ db: parts.db, queue, logger: parts.logger }),
    queue,
  );
}

/** Folds sessions as they are rung for until disposed of. */
export function startProjectorPart(parts: Parts): AsyncDisposable {
  const queue = openQueue(parts);
  runProjector(queue, parts);
  return queue;
}

/** Both over one queue. */
export function startPipeline(parts: Parts): AsyncDisposable {
  const queue = openQueue(parts);
  runProjector(queue, parts);
  return inOrder(
    startRelay({ db: parts.db, queue, logger: parts.logger }),
    queue,
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

/** Trouble with the queue is logged and survived: the sweep finds what was not rung for. */
function openQueue({ db, logger }: Parts): Queue {
  return createPostgresQueue(db, (error) =>
    logger.warn(
      { err: error },
      "a session could not be taken up or folded; the sweep comes back to it",
    ),
  );
}

function runProjector(queue: Queue, { db, config, logger }: Parts): void {
  queue.run(
    async (sessionId) => {
      const again = await projectSession(
        { db, projections: builtInProjections, logger },
        sessionId,
      );
      if (again) await queue.ring([sessionId]);
    },
    { concurrency: config.projectorConcurrency },
  );
}

function inOrder(...parts: readonly AsyncDisposable[]): AsyncDisposable {
  return {
    async [Symbol.asyncDispose]() {
      for (const part of parts) await part[Symbol.asyncDispose]();
    },
  };
}
