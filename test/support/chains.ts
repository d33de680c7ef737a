/** Chains as the coalescer makes them, for tests of the call that stores them. */
import { randomUUID } from "node:crypto";
import type { Db } from "../../src/db/connect.ts";
import { AppendId, SessionId } from "../../src/events/ids.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { initRules } from "../../src/events/rules/rules.ts";
import { buildChain, type Chain } from "../../src/log/chain.ts";
import { takeEvents } from "../../src/log/take-events.ts";
import { EventTypes } from "../../src/log/event-types.ts";
import { pendingAppend } from "../../src/log/pending-append.ts";
import { StateCache } from "../../src/log/state-cache.ts";

export interface ChainSpec {
  readonly sessionId: string;
  readonly firstSeq: number;
  /** What the client believes of a session that is there. */
  readonly incarnation?: string;
  readonly appends: readonly {
    readonly events: readonly NewEvent[];
    readonly appendId?: string;
  }[];
}

export function chainOf(db: Db, spec: ChainSpec): Chain {
  const { sessionId, firstSeq, incarnation = randomUUID(), appends } = spec;
  const states = new StateCache();
  states.set(sessionId, { head: firstSeq, incarnation, state: initRules({}) });
  const types = new EventTypes(db);
  const queue = appends.map(({ events, appendId }, at) =>
    pendingAppend(
      {
        sessionId: SessionId(sessionId),
        appendId: AppendId(appendId),
        items: takeEvents(events, null),
        expectedSeq: at === 0 && firstSeq === 0 ? 0 : "any",
        header: {},
        tenant: null,
        recreate: false,
        allowFindings: false,
        now: 1_700_000_000_000,
        timeoutMs: 10_000,
        limits: { maxEventCharacters: 1e6, maxAppendCharacters: 1e6 },
      },
      types,
      { resolve: () => undefined, reject: () => undefined },
    ),
  );
  const chain = buildChain(states, queue, { appends: 100, characters: 1e6 });
  if (chain === null || chain.appends.length !== appends.length)
    throw new Error("the appends make no chain");
  return chain;
}
