/** Sends chains in one call, and says of each what is to be done with it. */
import type { Db } from "../db/connect.ts";
import { isTransient } from "../db/pg-errors.ts";
import { callAppend, type AppendAnswer } from "./append-call.ts";
import { callAppendMany, type ChainAnswer } from "./append-many-call.ts";
import { callOf, type Chain } from "./chain.ts";
import { hasArrived } from "./settle-append.ts";

export type ChainOutcome =
  | { readonly kind: "stored" }
  /** The last word on the first append; nothing is known of the later ones. */
  | { readonly kind: "refused"; readonly answer: AppendAnswer }
  /** The session is locked by somebody else. */
  | { readonly kind: "busy" }
  /** Nothing is known; the first `count` appends must be sent again, each by itself. */
  | { readonly kind: "apart"; readonly count: number };

/**
 * An append that has less time than this is not left waiting for a lock: cut off by its deadline, its outcome would be
 * unknown. Longer than the lock timeout of `append_v1`.
 */
export const LEAST_WAIT_MS = 6_000;

/** So that one impatient append does not cost the others their connection. */
const LEAST_SHARED_MS = 1_000;

/**
 * Never rejects: a call that failed as a whole may be stored or not, and that shows when each append is sent again.
 * @param mayWait whether an append that goes alone may wait for the lock of its session
 */
export async function sendChains(
  db: Db,
  chains: readonly Chain[],
  mayWait: boolean,
): Promise<readonly ChainOutcome[]> {
  try {
    const answers = await call(db, chains, mayWait);
    return chains.map((chain, at) => outcomeOf(chain, answers[at]));
  } catch (error) {
    for (const { pending } of chains.flatMap(({ appends }) => appends))
      pending.sending.note(error);
    const isLocked = chains.length === 1 && isTransient(error);
    return chains.map(({ appends }) =>
      isLocked ? { kind: "busy" } : { kind: "apart", count: appends.length },
    );
  }
}

/**
 * A shared call lasts as long as the least patient of its appends waits, but for a second at least: then the others go on
 * without it.
 */
async function call(
  db: Db,
  chains: readonly Chain[],
  mayWait: boolean,
): Promise<readonly ChainAnswer[]> {
  const leftMs = chains
    .flatMap(({ appends }) => appends)
    .reduce(
      (least, { pending }) => Math.min(least, pending.sending.leftMs),
      Infinity,
    );
  const [first, second] = chains;
  const alone =
    first === undefined || second !== undefined ? null : callOf(first);
  return alone !== null && mayWait && leftMs > LEAST_WAIT_MS
    ? [await callAppend(db, alone, leftMs)]
    : callAppendMany(db, chains, Math.max(leftMs, LEAST_SHARED_MS));
}

function outcomeOf(
  { appends, firstSeq }: Chain,
  answer: ChainAnswer | undefined,
): ChainOutcome {
  const all: ChainOutcome = { kind: "apart", count: appends.length };
  if (answer === undefined) return all;
  const isAny = appends[0]?.pending.request.expectedSeq === "any";
  const { outcome } = answer;
  switch (outcome) {
    case "appended":
      return { kind: "stored" };
    case "busy":
      return { kind: "busy" };
    case "repeated":
      return all;
    // What was remembered is of an earlier session of this id.
    case "incarnation":
      return { kind: "apart", count: 1 };
    case "conflict":
    case "missing":
    case "deleted":
      return isAny || hasArrived({ ...answer, outcome }, firstSeq)
        ? { kind: "apart", count: 1 }
        : { kind: "refused", answer: { ...answer, outcome } };
    case "duplicate":
    case "reused":
    case "fenced":
    case "rules":
      return { kind: "refused", answer: { ...answer, outcome } };
  }
}
