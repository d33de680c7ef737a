/** Appends to one session of which each begins where the one before it ends: checked in order, sent and stored together. */
import { initRules, type RulesState } from "../events/rules/rules.ts";
import type { SessionId } from "../events/ids.ts";
import type { AppendCall } from "./append-call.ts";
import { creationOf, type Creation } from "./append-request.ts";
import { followAll, placeEvents } from "./check-batch.ts";
import { encodeAppend, type EncodedAppend } from "./encode-append.ts";
import type { PendingAppend } from "./pending-append.ts";
import type { StateCache } from "./state-cache.ts";

export interface ChainedAppend {
  readonly pending: PendingAppend;
  readonly firstSeq: number;
  readonly batch: EncodedAppend;
}

export interface Chain {
  readonly sessionId: SessionId;
  readonly incarnation: string;
  /** For a new session. */
  readonly creation: Creation | null;
  readonly firstSeq: number;
  /** Never empty. */
  readonly appends: readonly ChainedAppend[];
  /** After the last append. */
  readonly nextSeq: number;
  readonly state: RulesState;
  /** Of JSON text. */
  readonly characters: number;
}

/** What the appends of one chain may come to. */
export interface ChainLimits {
  readonly appends: number;
  readonly characters: number;
}

/**
 * Chains the first appends of a queue, as far as each fits behind the one before; the rest is for later. Null when not even
 * the first one can be checked against what this process remembers, or does not pass.
 */
export function buildChain(
  states: StateCache,
  queue: readonly PendingAppend[],
  limits: ChainLimits,
): Chain | null {
  const [first] = queue;
  if (first === undefined || first.isDirect) return null;
  const base = baseOf(states, first);
  if (base === null) return null;
  const appends: ChainedAppend[] = [];
  const ids = new Set<string>();
  let { head: nextSeq, state } = base;
  let characters = 0;
  for (const pending of queue) {
    if (appends.length === limits.appends || pending.isDirect) break;
    const { expectedSeq, appendId } = pending.request;
    if (expectedSeq !== "any" && expectedSeq !== nextSeq) break;
    // The second of two equal ids is answered with the result of the first one, which must be stored by then.
    if (ids.has(appendId)) break;
    const next = check(pending, nextSeq, state);
    if (next === null) break;
    if (
      appends.length > 0 &&
      characters + next.batch.characters > limits.characters
    )
      break;
    ids.add(appendId);
    appends.push({ pending, firstSeq: nextSeq, batch: next.batch });
    characters += next.batch.characters;
    nextSeq += next.batch.eventCount;
    state = next.state;
  }
  if (appends.length === 0) return null;
  const { sessionId } = first.request;
  const { head: firstSeq, incarnation, creation } = base;
  return {
    sessionId,
    incarnation,
    creation,
    firstSeq,
    appends,
    nextSeq,
    state,
    characters,
  };
}

/** Tells the callers of a stored chain where their events are. */
export function resolveAll({ appends }: Chain): void {
  for (const { pending, firstSeq, batch } of appends) {
    const nextSeq = firstSeq + batch.eventCount;
    pending.resolve({ firstSeq, nextSeq, deduplicated: false });
  }
}

/** The call that sends a chain of one append by itself; null for a longer one. */
export function callOf(chain: Chain): AppendCall | null {
  const [first, second] = chain.appends;
  if (first === undefined || second !== undefined) return null;
  const { sessionId, incarnation, creation, firstSeq, state } = chain;
  return {
    sessionId,
    appendId: first.pending.request.appendId,
    expectedSeq: firstSeq,
    incarnation,
    creation,
    state,
    batch: first.batch,
  };
}

interface Base {
  readonly head: number;
  readonly incarnation: string;
  readonly state: RulesState;
  readonly creation: Creation | null;
}

/** What the first append is checked against: what is remembered, or nothing for a new session. */
function baseOf(states: StateCache, { request }: PendingAppend): Base | null {
  if (request.expectedSeq === 0) {
    const creation = orNull(() => creationOf(request));
    return (
      creation && {
        head: 0,
        incarnation: creation.incarnation,
        state: initRules(creation.header),
        creation,
      }
    );
  }
  const remembered = states.get(request.sessionId);
  return remembered === undefined ? null : { ...remembered, creation: null };
}

function check(
  { request }: PendingAppend,
  firstSeq: number,
  state: RulesState,
): { readonly batch: EncodedAppend; readonly state: RulesState } | null {
  return orNull(() => {
    const events = placeEvents(request.items, firstSeq);
    const batch = encodeAppend(events, request.now, request.limits);
    return { batch, state: followAll(state, events, { allowFindings: false }) };
  });
}

/** Null where it throws: the append then goes by itself, and that says what is wrong with it. */
function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}
