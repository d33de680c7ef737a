/** Appends of a store: what a caller may ask for, and the way of it to the log. */
import type { Db } from "../db/connect.ts";
import type { CallerTransaction } from "../db/joined.ts";
import type { NewSessionHeader } from "../events/header.ts";
import { AppendId, type SessionId } from "../events/ids.ts";
import { appendEvents, type AppendContext } from "../log/append.ts";
import { appendJoined } from "../log/append-joined.ts";
import {
  takeHeader,
  type AppendRequest,
  type AppendResult,
} from "../log/append-request.ts";
import { requireSeq, requireText, requireTimeout } from "../log/bad-call.ts";
import type { AppendItem } from "../log/take-events.ts";
import { Coalescer } from "../log/coalescer.ts";
import type { Doorbell } from "../log/doorbell.ts";
import type { SizeLimits } from "../log/encode-append.ts";
import { readSessionRow } from "../log/session-row.ts";

export interface AppendOptions {
  /**
   * Seq the first event gets: the number of events the caller has seen. 0 creates the session; `"any"` appends at
   * the end, wherever that is, and creates the session if need be.
   */
  readonly expectedSeq: number | "any";
  /** Identity of this append: the same id with the same events is stored once. @defaultValue a new UUID */
  readonly appendId?: string;
  /** Header of a new session. */
  readonly header?: NewSessionHeader;
  /** Label of the owner of a new session. */
  readonly tenant?: string;
  /** Allows the id of a deleted session. @defaultValue false */
  readonly recreate?: boolean;
  /**
   * Stores events that break a rule between events, as a log that was recorded elsewhere may. `check` reports them.
   * @defaultValue false
   */
  readonly allowFindings?: boolean;
  /** How long a lost connection is met by sending again, in ms. @defaultValue 10000 */
  readonly timeoutMs?: number;
  /**
   * An open READ COMMITTED transaction of `pg`, drizzle or the `postgres` package to append in: the events are stored by its
   * commit. The append is sent once, and holds the session until then.
   */
  readonly tx?: CallerTransaction;
}

/** What the appends of a store go through. */
export class Appending {
  readonly #context: AppendContext;
  readonly #doorbell: Doorbell;
  readonly #limits: SizeLimits;
  /** Null where each append goes by itself. */
  readonly #coalescer: Coalescer | null;

  constructor(
    context: AppendContext,
    doorbell: Doorbell,
    limits: SizeLimits,
    coalesce: boolean,
  ) {
    this.#context = context;
    this.#doorbell = doorbell;
    this.#limits = limits;
    this.#coalescer = coalesce ? new Coalescer(context) : null;
  }

  /**
   * Everything of the caller's is checked and taken over before the first wait.
   * @param take the events, given the seq of the first one, or null where that is not known
   */
  async append(
    sessionId: SessionId,
    take: (firstSeq: number | null) => readonly AppendItem[],
    options: AppendOptions,
  ): Promise<AppendResult> {
    const request = requestOf(sessionId, take, options, this.#limits);
    if (request.items.length === 0)
      return appendNothing(this.#context.db, sessionId, request.expectedSeq);
    const { tx } = options;
    // The relay can't be told before the caller's commit, which we don't see; it looks by itself.
    if (tx !== undefined) return appendJoined(this.#context, request, tx);
    const result = await (this.#coalescer?.append(request) ??
      appendEvents(this.#context, request));
    this.#doorbell.ring();
    return result;
  }

  /** Takes no further appends, and returns when each one in hand has its answer. */
  async close(): Promise<void> {
    await this.#coalescer?.close();
  }
}

function requestOf(
  sessionId: SessionId,
  take: (firstSeq: number | null) => readonly AppendItem[],
  options: AppendOptions,
  limits: SizeLimits,
): AppendRequest {
  const {
    expectedSeq: expected,
    appendId,
    header = {},
    tenant,
    recreate,
    allowFindings,
    timeoutMs = 10_000,
  } = options ?? {};
  const expectedSeq =
    expected === "any" ? expected : requireSeq(expected, "expectedSeq");
  return {
    sessionId,
    appendId: AppendId(appendId),
    items: take(expectedSeq === "any" ? null : expectedSeq),
    expectedSeq,
    header: takeHeader(header),
    tenant: tenant === undefined ? null : requireText(tenant, "tenant"),
    recreate: recreate === true,
    allowFindings: allowFindings === true,
    now: Date.now(),
    timeoutMs: requireTimeout(timeoutMs, "timeoutMs"),
    limits,
  };
}

/** Nothing to store: the session is neither created nor checked. */
async function appendNothing(
  db: Db,
  sessionId: SessionId,
  expectedSeq: number | "any",
): Promise<AppendResult> {
  const at =
    expectedSeq === "any"
      ? (await readSessionRow(db, sessionId)).head
      : expectedSeq;
  return { firstSeq: at, nextSeq: at, deduplicated: false };
}
