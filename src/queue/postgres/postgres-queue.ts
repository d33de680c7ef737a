/** The queue without further services, and the one behind Redis: a loop that claims sessions from the work table. */
import type { Db } from "../../db/connect.ts";
import { listen, type Listener } from "../../db/listen.ts";
import { Wake } from "../../db/wake.ts";
import { SessionId } from "../../events/ids.ts";
import type { Queue, SessionHandler } from "../queue.ts";
import { claimSessions, releaseSessions } from "./claim.ts";

export interface Patience {
  /** Work that nobody came for after this long is claimed all the same; what is rung for here, at once. */
  readonly overdueMs: number;
  /** Whether the other queue works; asked before each look. */
  readonly isNeeded: () => boolean;
  /** How many sessions the other queue leaves room for now. */
  readonly freeHands: () => number;
}

const NO_PATIENCE: Patience = {
  overdueMs: 0,
  isNeeded: () => false,
  freeHands: () => Number.POSITIVE_INFINITY,
};
/** A claimer that died gives its sessions up after this; a healthy one is done long before. */
const CLAIM_MS = 30_000;
/** Where no notification comes, the table is looked at this often. */
const POLL_MS = 250;
/** Where only overdue work is claimed, it is not urgent. */
const OVERDUE_POLL_MS = 1_000;

/**
 * @param onError told when the table can't be read, or a handler fails; the loop goes on
 * @param patience how work is left to another queue at first; for none by default
 */
export function createPostgresQueue(
  db: Db,
  onError: (error: unknown) => void = () => undefined,
  patience: Patience = NO_PATIENCE,
): Queue {
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const listeners: Listener[] = [];
  const wake = new Wake();
  const close = async (): Promise<void> => {
    stop.abort();
    wake.ring();
    await Promise.all([
      ...running,
      ...listeners.map((listener) => listener.close()),
    ]);
  };
  return {
    ring: (sessionIds) =>
      sessionIds.length === 0
        ? Promise.resolve()
        : releaseSessions(db, sessionIds, patience.overdueMs),
    run(handler, { concurrency }) {
      listeners.push(listen(db, "turnlog_work", wake.ring));
      running.push(
        claimLoop({
          db,
          handler,
          concurrency,
          wake,
          onError,
          patience,
          signal: stop.signal,
        }),
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface ClaimLoop {
  readonly db: Db;
  readonly handler: SessionHandler;
  readonly concurrency: number;
  readonly wake: Wake;
  readonly onError: (error: unknown) => void;
  readonly patience: Patience;
  readonly signal: AbortSignal;
}

async function claimLoop(loop: ClaimLoop): Promise<void> {
  const inHand = new Set<Promise<void>>();
  while (!loop.signal.aborted) {
    const { patience, concurrency } = loop;
    const free = Math.min(concurrency - inHand.size, patience.freeHands());
    const overdueMs = patience.isNeeded() ? patience.overdueMs : 0;
    const claimed = free <= 0 ? [] : await claimOrNone(loop, free, overdueMs);
    for (const sessionId of claimed) {
      const job = handle(loop, SessionId(sessionId)).finally(() => {
        inHand.delete(job);
        loop.wake.ring();
      });
      inHand.add(job);
    }
    if (claimed.length === 0 || inHand.size === loop.concurrency)
      await loop.wake.wait(overdueMs > 0 ? OVERDUE_POLL_MS : POLL_MS);
  }
  await Promise.all(inHand);
}

async function claimOrNone(
  loop: ClaimLoop,
  limit: number,
  overdueMs: number,
): Promise<readonly string[]> {
  try {
    return await claimSessions(loop.db, limit, CLAIM_MS, overdueMs);
  } catch (error) {
    loop.onError(error);
    return [];
  }
}

async function handle(loop: ClaimLoop, sessionId: SessionId): Promise<void> {
  try {
    await loop.handler(sessionId);
  } catch (error) {
    loop.onError(error);
  }
}
