/**
 * Lets small appends that are on their way at the same time share a call and a commit. Each keeps its own append id, its own
 * answer and its own deadline; the appends of a session go in the order of their calls. An append that meets nobody goes at
 * once and by itself.
 */
import { StoreClosedError } from "../errors.ts";
import type { AppendRequest, AppendResult } from "./append-request.ts";
import { appendEvents, type AppendContext } from "./append.ts";
import { CallSlots } from "./call-slots.ts";
import { buildChain, resolveAll, type Chain } from "./chain.ts";
import { DeadlineTimer } from "./deadline-timer.ts";
import { Strand } from "./strand.ts";
import { pendingAppend, type PendingAppend } from "./pending-append.ts";
import { LEAST_WAIT_MS, sendChains, type ChainOutcome } from "./send-chains.ts";
import { settleAppend } from "./settle-append.ts";

/** Where a session is stored: those with an equal route may share a call. */
export type Route = (sessionId: string) => string;

const ONE_SERVER: Route = () => "";

const CHAIN_LIMITS = { appends: 64, characters: 64 * 1024 };
const MAX_FLUSH_CHAINS = 128;
const MAX_FLUSH_CHARACTERS = 512 * 1024;

/** How long a locked session rests before it is asked for again. */
const BUSY_PAUSE_MS = 50;

/** A chain of the strand, on its way. */
interface Flight {
  readonly strand: Strand;
  readonly chain: Chain;
}

export class Coalescer {
  readonly #context: AppendContext;
  readonly #route: Route;
  readonly #slots: CallSlots;
  readonly #timer = new DeadlineTimer((now) => this.#expire(now));
  /** Sessions with an append in hand. */
  readonly #strands = new Map<string, Strand>();
  /** Those of them that are ready for the next flush, in the order they came. */
  #ready: Strand[] = [];
  #isPumpDue = false;
  #closing: Promise<void> | null = null;
  #whenIdle: (() => void) | null = null;

  constructor(context: AppendContext, route: Route = ONE_SERVER) {
    this.#context = context;
    this.#route = route;
    this.#slots = new CallSlots(context.db.poolSize, () => this.#pumpSoon());
  }

  /** As `appendEvents`, but may share a call. Takes its place among the appends of the session before it returns. */
  append(request: AppendRequest): Promise<AppendResult> {
    if (this.#closing !== null) return Promise.reject(new StoreClosedError());
    return new Promise((resolve, reject) => {
      const { sessionId } = request;
      const caller = { resolve, reject };
      const pending = pendingAppend(request, this.#context.types, caller);
      this.#timer.by(pending.sending.deadline);
      const open = this.#strands.get(sessionId);
      const strand = open ?? new Strand(sessionId);
      strand.add(pending);
      if (open !== undefined) return;
      this.#strands.set(sessionId, strand);
      this.#enter(strand);
    });
  }

  /** Takes no further appends, and returns when each one in hand has its answer, at its deadline at the latest. */
  close(): Promise<void> {
    return (this.#closing ??= new Promise((resolve) => {
      this.#whenIdle = resolve;
      if (this.#strands.size === 0) resolve();
    }));
  }

  /** The next step of a strand with nothing in flight. */
  #enter(strand: Strand): void {
    strand.expire(performance.now());
    const [first] = strand.queue;
    if (first === undefined) this.#leave(strand);
    else if (first.isDirect) void this.#sendDirect(strand);
    else {
      this.#ready.push(strand);
      this.#pumpSoon();
    }
  }

  #leave(strand: Strand): void {
    this.#strands.delete(strand.sessionId);
    if (this.#strands.size === 0) this.#whenIdle?.();
  }

  /** Behind everything that this turn of the event loop brings, so that appends made together are sent together. */
  #pumpSoon(): void {
    if (this.#isPumpDue || this.#ready.length === 0) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      while (this.#ready.length > 0 && this.#slots.isFree) {
        const flights = this.#gather();
        if (flights.length > 0)
          void this.#slots.flush(() => this.#send(flights));
      }
    });
  }

  /** Takes ready strands for one flush. Those that can't share it go by themselves. */
  #gather(): readonly Flight[] {
    const flights: Flight[] = [];
    const others: Strand[] = [];
    const strands = this.#ready;
    this.#ready = [];
    const route = strands[0] && this.#route(strands[0].sessionId);
    let characters = 0;
    for (const strand of strands) {
      const isFull =
        flights.length === MAX_FLUSH_CHAINS ||
        characters >= MAX_FLUSH_CHARACTERS;
      if (isFull || this.#route(strand.sessionId) !== route) {
        others.push(strand);
        continue;
      }
      const flight = this.#takeOff(strand);
      if (flight === null) continue;
      flights.push(flight);
      characters += flight.chain.characters;
    }
    this.#ready = [...others, ...this.#ready];
    return flights;
  }

  /** Null when the strand's first append does not share a call. */
  #takeOff(strand: Strand): Flight | null {
    if (strand.queue.length === 0) {
      this.#leave(strand);
      return null;
    }
    const chain = buildChain(this.#context.states, strand.queue, CHAIN_LIMITS);
    if (chain === null) {
      void this.#sendDirect(strand);
      return null;
    }
    strand.take(chain.appends.length);
    if (chain.characters <= CHAIN_LIMITS.characters) return { strand, chain };
    void this.#send([{ strand, chain }]);
    return null;
  }

  async #send(
    flights: readonly Flight[],
    mayWait = this.#slots.mayWait,
  ): Promise<void> {
    const chains = flights.map(({ chain }) => chain);
    const { db } = this.#context;
    const outcomes = await sendChains(db, chains, mayWait);
    for (const [at, flight] of flights.entries()) {
      const outcome = outcomes[at];
      if (outcome !== undefined) this.#settle(flight, outcome);
    }
  }

  /** Hands out the results of a stored chain; any other one is taken apart. */
  #settle({ strand, chain }: Flight, outcome: ChainOutcome): void {
    const { states, db } = this.#context;
    const { sessionId, incarnation, state, nextSeq, firstSeq } = chain;
    if (outcome.kind === "stored") {
      states.set(sessionId, { head: nextSeq, incarnation, state });
      resolveAll(chain);
      this.#land(strand, []);
      return;
    }
    if (outcome.kind !== "busy") states.forget(sessionId);
    const all = chain.appends.map(({ pending }) => pending);
    const [first, ...rest] = all;
    if (first === undefined) return;
    if (outcome.kind === "busy") this.#retryBusy(strand, all);
    else if (outcome.kind === "refused") {
      void settleAppend(db, first.request, firstSeq, outcome.answer)
        .then(first.resolve, first.reject)
        .finally(() => this.#land(strand, rest));
    } else {
      for (const pending of all.slice(0, outcome.count))
        pending.isDirect = true;
      this.#land(strand, all);
    }
  }

  /**
   * A locked session is waited for on a connection of its own. Where there is none for it, or no time, it is asked for again
   * after a pause; near the deadline it is not, so that no try is on its way then.
   */
  #retryBusy(strand: Strand, all: readonly PendingAppend[]): void {
    strand.land(all);
    const leftMs = all[0]?.sending.leftMs ?? 0;
    if (this.#slots.mayWait && leftMs > LEAST_WAIT_MS)
      void this.#slots.wait(() => this.#sendFirst(strand));
    else {
      // A timer may fire a millisecond early.
      const restMs = leftMs < 3 * BUSY_PAUSE_MS ? leftMs + 2 : BUSY_PAUSE_MS;
      setTimeout(() => this.#enter(strand), restMs);
    }
  }

  /** Sends the first append of the strand by itself, and waits for the lock of its session. */
  async #sendFirst(strand: Strand): Promise<void> {
    const { states } = this.#context;
    const chain = buildChain(states, strand.queue, {
      ...CHAIN_LIMITS,
      appends: 1,
    });
    if (chain === null) return this.#sendDirect(strand);
    strand.take(1);
    return this.#send([{ strand, chain }], true);
  }

  /** Sends the first append of the strand by the way that settles every case, until its deadline. */
  async #sendDirect(strand: Strand): Promise<void> {
    const [pending] = strand.take(1);
    if (pending !== undefined) {
      pending.isDirect = true;
      await appendEvents(this.#context, pending.request, pending.sending).then(
        pending.resolve,
        pending.reject,
      );
    }
    this.#land(strand, []);
  }

  /** Ends a flight of the strand; what it left unanswered comes first in the next one. */
  #land(strand: Strand, unanswered: readonly PendingAppend[]): void {
    strand.land(unanswered);
    this.#enter(strand);
  }

  #expire(now: number): number {
    let next = Infinity;
    for (const strand of this.#strands.values()) {
      strand.expire(now);
      next = Math.min(next, strand.nextDeadline(now));
    }
    return next;
  }
}
