/**
 * Lets small appends that are on their way at the same time share a call and a commit. Each keeps its own append id, its own
 * answer and its own deadline; the appends of a session go in the order of their calls. An append that meets nobody goes at
 * once and by itself.
 */
import { StoreClosedError } from "../errors.ts";
import { callAppend, type AppendAnswer } from "./append-call.ts";
import { callAppendMany, type ChainAnswer } from "./append-many-call.ts";
import type { AppendRequest, AppendResult } from "./append-request.ts";
import { appendEvents, type AppendContext } from "./append.ts";
import { buildChain, callOf, type Chain } from "./chain.ts";
import { DeadlineTimer } from "./deadline-timer.ts";
import { Lane } from "./lane.ts";
import { pendingAppend, type PendingAppend } from "./pending-append.ts";
import { settleAppend } from "./settle-append.ts";

/** Sessions whose appends may share a call: those with an equal route. */
export type Route = (sessionId: string) => string;

/** On one server all may. */
const ONE_SERVER: Route = () => "";

/** Calls on their way at the same time; further appends gather until one is back. */
const MAX_FLUSHES = 2;
const MAX_FLUSH_CHAINS = 128;
const CHAIN_LIMITS = { appends: 64, characters: 64 * 1024 };
const MAX_FLUSH_CHARACTERS = 512 * 1024;

/** A call that takes longer waits for a lock, or the server is slow: the next one need not wait for it. */
const SLOW_MS = 25;

/** How long a locked session rests while no connection may be spent on waiting for it. */
const BUSY_PAUSE_MS = 20;

export class Coalescer {
  readonly #context: AppendContext;
  readonly #route: Route;
  /** Connections that may wait for locks, so that others are left for the rest. */
  readonly #maxWaiting: number;
  /** Sessions with an append in hand. */
  readonly #lanes = new Map<string, Lane>();
  /** Those of them that are ready for the next flush, in the order they came. */
  #ready: Lane[] = [];
  #flushes = 0;
  #waiting = 0;
  #isPumpDue = false;
  readonly #timer = new DeadlineTimer((now) => this.#expire(now));
  #isClosed = false;
  #whenIdle: (() => void) | null = null;

  constructor(context: AppendContext, route: Route = ONE_SERVER) {
    this.#context = context;
    this.#route = route;
    this.#maxWaiting = Math.floor(context.db.poolSize / 2);
  }

  /** As `appendEvents`, but may share a call. Takes its place among the appends of the session before it returns. */
  append(request: AppendRequest): Promise<AppendResult> {
    if (this.#isClosed) return Promise.reject(new StoreClosedError());
    return new Promise((resolve, reject) => {
      const { sessionId } = request;
      const caller = { resolve, reject };
      const pending = pendingAppend(request, this.#context.types, caller);
      this.#timer.by(pending.sending.deadline);
      const open = this.#lanes.get(sessionId);
      const lane = open ?? new Lane(sessionId);
      lane.add(pending);
      if (open !== undefined) return;
      this.#lanes.set(sessionId, lane);
      this.#enter(lane);
    });
  }

  /** Takes no further appends, and returns when each one in hand has its answer, at its deadline at the latest. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#lanes.size > 0)
      await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    this.#timer.close();
  }

  /** The next step of a lane with nothing in flight. */
  #enter(lane: Lane): void {
    lane.expire(performance.now());
    const [first] = lane.queue;
    if (first === undefined) this.#leave(lane);
    else if (first.isDirect) void this.#sendDirect(lane);
    else {
      this.#ready.push(lane);
      this.#pumpSoon();
    }
  }

  #leave(lane: Lane): void {
    this.#lanes.delete(lane.sessionId);
    if (this.#lanes.size === 0) this.#whenIdle?.();
  }

  /** Behind everything that this turn of the event loop brings, so that appends made together are sent together. */
  #pumpSoon(): void {
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      while (this.#ready.length > 0 && this.#flushes < MAX_FLUSHES) {
        const flush = this.#gather();
        if (flush.length > 0) void this.#sendFlush(flush);
      }
    });
  }

  /** Takes ready lanes for one flush. Those that can't share it go by themselves. */
  #gather(): readonly Flight[] {
    const flights: Flight[] = [];
    const others: Lane[] = [];
    const lanes = this.#ready;
    this.#ready = [];
    const route = lanes[0] && this.#route(lanes[0].sessionId);
    let characters = 0;
    for (const lane of lanes) {
      const isFull =
        flights.length === MAX_FLUSH_CHAINS ||
        characters >= MAX_FLUSH_CHARACTERS;
      if (isFull || this.#route(lane.sessionId) !== route) {
        others.push(lane);
        continue;
      }
      const flight = this.#takeOff(lane);
      if (flight === null) continue;
      flights.push(flight);
      characters += flight.chain.characters;
    }
    this.#ready = [...others, ...this.#ready];
    return flights;
  }

  /** Null when the lane's first append does not share a call. */
  #takeOff(lane: Lane): Flight | null {
    if (lane.queue.length === 0) {
      this.#leave(lane);
      return null;
    }
    const chain = buildChain(this.#context.states, lane.queue, CHAIN_LIMITS);
    if (chain === null) {
      void this.#sendDirect(lane);
      return null;
    }
    lane.take(chain.appends.length);
    if (chain.characters <= CHAIN_LIMITS.characters) return { lane, chain };
    void this.#sendChains([{ lane, chain }]);
    return null;
  }

  /** Sends a flush, and lets the next one go when this one is back or slow. */
  async #sendFlush(flights: readonly Flight[]): Promise<void> {
    this.#flushes += 1;
    let isSlow = false;
    const slow = setTimeout(() => {
      if (this.#waiting >= this.#maxWaiting) return;
      isSlow = true;
      this.#waiting += 1;
      this.#flushes -= 1;
      this.#pumpSoon();
    }, SLOW_MS);
    await this.#sendChains(flights);
    clearTimeout(slow);
    if (isSlow) this.#waiting -= 1;
    else this.#flushes -= 1;
    this.#pumpSoon();
  }

  /** Never rejects: each append has its answer then, or is in its lane again. */
  async #sendChains(flights: readonly Flight[]): Promise<void> {
    try {
      const answers = await this.#call(flights.map(({ chain }) => chain));
      for (const [at, flight] of flights.entries()) {
        const answer = answers[at];
        if (answer !== undefined) this.#settle(flight, answer);
      }
    } catch (error) {
      for (const flight of flights) this.#replay(flight, error);
    }
  }

  /** One append by itself waits for the lock of its session, if a connection may be spent on that. */
  async #call(chains: readonly Chain[]): Promise<readonly ChainAnswer[]> {
    const { db } = this.#context;
    const timeoutMs = chains
      .flatMap(({ appends }) => appends)
      .reduce((most, { pending }) => Math.max(most, pending.sending.leftMs), 1);
    const [first, second] = chains;
    const single =
      first === undefined || second !== undefined ? null : callOf(first);
    return single !== null && this.#waiting < this.#maxWaiting
      ? [await callAppend(db, single, timeoutMs)]
      : callAppendMany(db, chains, timeoutMs);
  }

  /** Hands out the results of a stored chain; any other one is taken apart. */
  #settle({ lane, chain }: Flight, answer: ChainAnswer): void {
    const { states, db } = this.#context;
    const { incarnation, state, nextSeq } = chain;
    const all = chain.appends.map(({ pending }) => pending);
    if (answer.outcome === "appended") {
      states.set(lane.sessionId, { head: nextSeq, incarnation, state });
      for (const { pending, firstSeq, batch } of chain.appends)
        pending.resolve({
          firstSeq,
          nextSeq: firstSeq + batch.eventCount,
          deduplicated: false,
        });
      this.#land(lane, []);
      return;
    }
    states.forget(lane.sessionId);
    const [first, ...rest] = all;
    if (first === undefined) return;
    const settled = verdictOn(first, answer);
    if (settled !== null) {
      void settleAppend(db, first.request, chain.firstSeq, settled)
        .then(first.resolve, first.reject)
        .finally(() => this.#land(lane, rest));
      return;
    }
    if (answer.outcome === "busy") {
      this.#retryBusy(lane, all);
      return;
    }
    first.isDirect = true;
    if (answer.outcome === "repeated") makeDirect(rest);
    this.#land(lane, all);
  }

  /** A call that failed as a whole may be stored or not: each append is sent again by itself, and that tells. */
  #replay({ lane, chain }: Flight, error: unknown): void {
    this.#context.states.forget(lane.sessionId);
    const all = chain.appends.map(({ pending }) => pending);
    for (const { sending } of all) sending.note(error);
    makeDirect(all);
    this.#land(lane, all);
  }

  /** A locked session is waited for on a connection of its own; while there is none for it, it is asked for again. */
  #retryBusy(lane: Lane, all: readonly PendingAppend[]): void {
    lane.land(all);
    if (this.#waiting >= this.#maxWaiting) {
      setTimeout(() => this.#enter(lane), BUSY_PAUSE_MS);
      return;
    }
    this.#waiting += 1;
    void this.#sendDirect(lane).finally(() => (this.#waiting -= 1));
  }

  /** Sends the first append of the lane by the way that settles every case, until its deadline. */
  async #sendDirect(lane: Lane): Promise<void> {
    const [pending] = lane.take(1);
    if (pending !== undefined) {
      pending.isDirect = true;
      await appendEvents(this.#context, pending.request, pending.sending).then(
        pending.resolve,
        pending.reject,
      );
    }
    this.#land(lane, []);
  }

  /** Ends a flight of the lane; what it left unanswered comes first in the next one. */
  #land(lane: Lane, unanswered: readonly PendingAppend[]): void {
    lane.land(unanswered);
    this.#enter(lane);
  }

  #expire(now: number): number {
    let next = Infinity;
    for (const lane of this.#lanes.values()) {
      lane.expire(now);
      next = Math.min(next, lane.nextDeadline(now));
    }
    return next;
  }
}

interface Flight {
  readonly lane: Lane;
  readonly chain: Chain;
}

function makeDirect(appends: readonly PendingAppend[]): void {
  for (const pending of appends) pending.isDirect = true;
}

/** What the database says of the first append of a chain, where that is the last word. */
function verdictOn(
  { request }: PendingAppend,
  answer: ChainAnswer,
): AppendAnswer | null {
  const { outcome } = answer;
  switch (outcome) {
    case "busy":
    case "repeated":
    // What was remembered is of an earlier session of this id.
    case "incarnation":
      return null;
    case "conflict":
    case "missing":
    case "deleted":
      return request.expectedSeq === "any" ? null : { ...answer, outcome };
    case "appended":
    case "duplicate":
    case "reused":
    case "fenced":
    case "rules":
      return { ...answer, outcome };
  }
}
