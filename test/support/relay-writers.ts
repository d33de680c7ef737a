/** Writers with a mind of their own: their transactions begin early, commit late, or are rolled back. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { Db } from "../../src/db/connect.ts";
import { deltas, notes } from "./events.ts";
import type { DrainLoop } from "./relay-drain-loop.ts";
import { appendIn, openTransaction } from "./relay-open-transaction.ts";

/** One append in a transaction of its own. */
interface PlannedAppend {
  readonly events: number;
  readonly kind: "facts" | "deltas";
  readonly isCommitted: boolean;
  /** Drains between the transaction's getting its id and the append; null where the append gives it one. */
  readonly drainsBefore: number | null;
  /** Drains between the append and its end. */
  readonly drainsAfter: number;
}

/** Appends of one session, one after another. */
type SessionPlan = readonly PlannedAppend[];

export const sessionPlan: fc.Arbitrary<SessionPlan> = fc.array(
  fc.record({
    events: fc.integer({ min: 1, max: 4 }),
    kind: fc.constantFrom("facts", "facts", "deltas"),
    isCommitted: fc.constantFrom(true, true, true, false),
    drainsBefore: fc.option(fc.nat(3)),
    drainsAfter: fc.nat(4),
  }),
  { minLength: 1, maxLength: 5 },
);

export interface WrittenSession {
  readonly sessionId: string;
  /** First and next seq of each append that was committed, in order. */
  readonly committed: readonly (readonly [number, number])[];
  /** Next seq after the last committed fact; null where there is none. */
  readonly factsHead: number | null;
}

/** Carries out a plan while relays drain. */
export async function write(
  db: Db,
  plan: SessionPlan,
  drains: DrainLoop,
): Promise<WrittenSession> {
  const sessionId = randomUUID();
  const committed: [number, number][] = [];
  let factsHead: number | null = null;
  for (const planned of plan) {
    const seq = committed.at(-1)?.[1] ?? 0;
    await carryOut(db, sessionId, seq, planned, drains);
    if (!planned.isCommitted) continue;
    committed.push([seq, seq + planned.events]);
    if (planned.kind === "facts") factsHead = seq + planned.events;
  }
  return { sessionId, committed, factsHead };
}

async function carryOut(
  db: Db,
  sessionId: string,
  seq: number,
  planned: PlannedAppend,
  drains: DrainLoop,
): Promise<void> {
  const { events, kind, isCommitted, drainsBefore, drainsAfter } = planned;
  await using tx = await openTransaction(db);
  if (drainsBefore !== null) {
    await tx.rows({ text: "select pg_current_xact_id()::text" });
    await drains.passed(drainsBefore);
  }
  const batch =
    kind === "facts" ? notes(events) : deltas(Array(events).fill("x"));
  await appendIn(tx, sessionId, batch, seq);
  await drains.passed(drainsAfter);
  await (isCommitted ? tx.commit() : tx.rollback());
}
