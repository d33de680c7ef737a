/** The object a backend service holds: append to sessions, read them back, and read what was made of them. */
import { isPostgresUrl } from "./config.ts";
import { ConfigInvalidError, EventNotFoundError } from "./errors.ts";
import { connect, type Db } from "./db/connect.ts";
import { checkSchema } from "./db/migrate.ts";
import type { NewEvent, SessionEvent } from "./events/event.ts";
import type { NewSessionHeader, SessionHeader } from "./events/header.ts";
import { AppendId, SessionId } from "./events/ids.ts";
import type { LogRecord } from "./events/log-record.ts";
import type { Finding } from "./events/rules/log-audit.ts";
import { appendEvents, type AppendContext } from "./log/append.ts";
import {
  takeHeader,
  type AppendRequest,
  type AppendResult,
} from "./log/append-request.ts";
import { requireSeq, requireText, requireTimeout } from "./log/bad-call.ts";
import { takeEvents, takeRecords, type AppendItem } from "./log/check-batch.ts";
import { Coalescer } from "./log/coalescer.ts";
import { checkSession, type CheckReport } from "./log/check-session.ts";
import { recordFindings } from "./log/import-findings.ts";
import { EventTypes, type RegisteredType } from "./log/event-types.ts";
import { StateCache } from "./log/state-cache.ts";
import type { SizeLimits } from "./log/encode-append.ts";
import { Doorbell } from "./log/doorbell.ts";
import type { DerivedMessage } from "./events/derive-messages.ts";
import type { TranscriptItem } from "./events/transcript.ts";
import { readMessagesAt } from "./log/messages-at.ts";
import {
  readRequestAt,
  type RecordedRequest,
  type RequestQuery,
} from "./log/request-at.ts";
import { readTranscript, type TranscriptOptions } from "./log/transcript.ts";
import { readEvents, type ReadOptions } from "./log/read.ts";
import { readSessionIds } from "./log/session-ids.ts";
import { readSessionRow } from "./log/session-row.ts";
import { readAsOfSeq } from "./query/as-of.ts";
import {
  readMessages,
  readSessions,
  readTitles,
  readTokenStats,
  readUsage,
  type MessagesQuery,
} from "./query/read-views.ts";
import type {
  MessageRow,
  SessionListRow,
  TitleRow,
  TokenStatsRow,
  UsageRow,
} from "./query/views.ts";
import { waitForSeq } from "./query/wait-for.ts";

export interface SessionStoreOptions extends Partial<SizeLimits> {
  readonly databaseUrl: string;
  /** Connections at most. @defaultValue 10 */
  readonly poolSize?: number;
  /** Shown in pg_stat_activity. @defaultValue "turnlog" */
  readonly applicationName?: string;
  /** Set to false behind a pooler that can't keep named statements. @defaultValue true */
  readonly preparedStatements?: boolean;
  /** Characters of JSON text that one event may have. @defaultValue 67108864 */
  readonly maxEventCharacters?: number;
  /** Characters of JSON text that one append may have. @defaultValue 268435456 */
  readonly maxAppendCharacters?: number;
  /**
   * Lets small appends that are on their way at the same time share a call and a commit. Set to false to have each append
   * sent by itself and at once. @defaultValue true
   */
  readonly coalesce?: boolean;
}

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
}

export interface SessionInfo {
  readonly header: SessionHeader;
  /** Number of events = expected seq of the next append. */
  readonly head: number;
}

/** Rows of a view, and the last event that is in them. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** -1 before the first event is folded. */
  readonly asOfSeq: number;
}

export interface WaitOptions {
  /** Event that must be in the read tables. */
  readonly seq: number;
  /** @defaultValue all live projections */
  readonly projections?: readonly string[];
  /** @defaultValue 5000 */
  readonly timeoutMs?: number;
}

export interface SessionStore extends AsyncDisposable {
  /**
   * Appends events: all of them or none, exactly once per append id. An empty list does nothing.
   * @throws WrongExpectedSeqError when the session has another number of events
   * @throws EventInvalidError when an event breaks a rule
   * @throws AppendIdReusedError, AppendOutcomeUnknownError, SessionNotFoundError, SessionDeletedError,
   * SessionBusyError, RulesOutdatedError, DatabaseUnavailableError
   * @example await store.append(id, [{ type: "turn/start", data: { turn: 1 } }], { expectedSeq: 0 })
   */
  append(
    sessionId: string,
    events: readonly NewEvent[],
    options: AppendOptions,
  ): Promise<AppendResult>;
  /**
   * As `append`, for what was read from a log file: events fresh from the parser, which are not copied, and packed rows, which
   * are stored as they are. Their numbers must be known to be kept.
   * @throws as `append`
   */
  appendRecords(
    sessionId: string,
    records: readonly LogRecord[],
    options: AppendOptions & { readonly expectedSeq: number },
  ): Promise<AppendResult>;
  /**
   * Yields events in order, as of the moment the reading starts; memory stays bounded however long the log.
   * @throws SessionNotFoundError, SessionDeletedError
   * @example for await (const event of store.read(id, { fromSeq: 100 })) console.log(event.type)
   */
  read(sessionId: string, options?: ReadOptions): AsyncIterable<SessionEvent>;
  /** @throws SessionNotFoundError, SessionDeletedError */
  session(sessionId: string): Promise<SessionInfo>;
  /** Yields the ids of all stored sessions, in byte order. Reads the log, not the read tables. */
  sessionIds(): AsyncIterable<string>;
  /**
   * The messages that the model sees after event `seq`, in its order and verbatim; `head - 1` gives those of now. Reads
   * the log, not the read tables.
   * @throws EventNotFoundError, SessionNotFoundError, SessionDeletedError
   */
  messagesAt(
    sessionId: string,
    seq: number,
  ): Promise<readonly DerivedMessage[]>;
  /**
   * The request of one attempt at a step as it was sent, but for the bytes of images, which the log only names. Default
   * attempt: the last one that an answer came of.
   * @throws RequestNotFoundError, SessionNotFoundError, SessionDeletedError
   */
  requestAt(sessionId: string, query: RequestQuery): Promise<RecordedRequest>;
  /**
   * Yields a session as a person saw it, in log order: what the model no longer sees stays in it, and a compaction is
   * one marker. Go on with `fromSeq` one more than the last item's seq.
   * @throws SessionNotFoundError, SessionDeletedError
   */
  transcript(
    sessionId: string,
    options?: TranscriptOptions,
  ): AsyncIterable<TranscriptItem>;
  /** Sessions, those with the latest human prompt first. */
  sessions(options?: {
    readonly limit?: number;
  }): Promise<readonly SessionListRow[]>;
  /** Messages of a session: by default what the model sees next. */
  messages(
    sessionId: string,
    options?: Partial<MessagesQuery>,
  ): Promise<Page<MessageRow>>;
  /** Usage facts of a session, one a request attempt. */
  usage(sessionId: string): Promise<Page<UsageRow>>;
  /** Titles that a session was given, in log order. */
  titles(sessionId: string): Promise<Page<TitleRow>>;
  /** Token sums for each provider and model, of one session or of all. */
  tokenStats(sessionId?: string): Promise<readonly TokenStatsRow[]>;
  /**
   * Waits until an event is in the read tables. Deltas by themselves are not folded: for one that nothing follows
   * yet it waits for the last event before it that is none.
   * @throws WaitTimeoutError, ProjectionParkedError, ProjectionUnknownError, EventNotFoundError, SessionNotFoundError
   */
  waitFor(sessionId: string, options: WaitOptions): Promise<void>;
  /**
   * Lets the store take events of a further log-only type without their being marked ignorable, for all its clients.
   * @throws EventInvalidError when the type is known already, retired, or does not read `family/name`
   */
  registerEventType(type: RegisteredType): Promise<void>;
  /** Types that were registered. */
  eventTypes(): Promise<readonly RegisteredType[]>;
  /** True for a type that the store takes without its being marked ignorable. */
  knowsEventType(type: string): Promise<boolean>;
  /**
   * Checks a stored log by every rule, and the state beside it; with `fixState` a wrong state is replaced.
   * @throws SessionNotFoundError, SessionDeletedError
   */
  check(
    sessionId: string,
    options?: { readonly fixState?: boolean },
  ): Promise<CheckReport>;
  /**
   * Keeps what an import of a log as it is found; `check` then says of these findings that they are accepted. Repeating
   * it changes nothing.
   * @throws nothing for a session or an event that is not stored: its findings are passed over
   */
  recordFindings(
    sessionId: string,
    findings: readonly Finding[],
  ): Promise<void>;
  /** Sizes that appends may have. */
  readonly limits: SizeLimits;
  /** Ends the connections; calls in hand may fail. Calling it again does nothing. */
  close(): Promise<void>;
}

/** Longest list that a call returns unless it asks for more. */
const DEFAULT_LIMIT = 100;

/**
 * Connects to a migrated database.
 * @throws DatabaseUnavailableError, SchemaOutdatedError, SchemaTooNewError
 */
export async function createSessionStore(
  options: SessionStoreOptions,
): Promise<SessionStore> {
  if (!isPostgresUrl(options.databaseUrl))
    throw new ConfigInvalidError(
      "databaseUrl must be postgres://user:password@host:port/database.",
    );
  const db = connect({
    databaseUrl: options.databaseUrl,
    poolSize: options.poolSize ?? 10,
    applicationName: options.applicationName ?? "turnlog",
    preparedStatements: options.preparedStatements ?? true,
  });
  try {
    await checkSchema(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return storeOver(db, options);
}

/** Generous, and yet well below what one value of Postgres and one string of JavaScript can hold. */
const DEFAULT_LIMITS: SizeLimits = {
  maxEventCharacters: 64 * 1024 * 1024,
  maxAppendCharacters: 256 * 1024 * 1024,
};

/** A store over an open connection; closing the store closes it. */
export function storeOver(
  db: Db,
  settings: Pick<SessionStoreOptions, keyof SizeLimits | "coalesce"> = {},
): SessionStore {
  const {
    maxEventCharacters = DEFAULT_LIMITS.maxEventCharacters,
    maxAppendCharacters = DEFAULT_LIMITS.maxAppendCharacters,
    coalesce = true,
  } = settings;
  const limits = { maxEventCharacters, maxAppendCharacters };
  const doorbell = new Doorbell(db);
  const context: AppendContext = {
    db,
    types: new EventTypes(db),
    states: new StateCache(),
  };
  const coalescer = coalesce ? new Coalescer(context) : null;
  const send = (request: AppendRequest): Promise<AppendResult> =>
    coalescer?.append(request) ?? appendEvents(context, request);
  const close = async (): Promise<void> => {
    await coalescer?.close();
    doorbell.close();
    await db.close();
  };
  return {
    async append(sessionId, events, options) {
      return append(
        { db, send, doorbell, limits },
        SessionId(sessionId),
        (firstSeq) => takeEvents(events, firstSeq),
        options,
      );
    },
    async appendRecords(sessionId, records, options) {
      return append(
        { db, send, doorbell, limits },
        SessionId(sessionId),
        () => takeRecords(records, options.expectedSeq),
        options,
      );
    },
    async *read(sessionId, options) {
      if (options?.fromSeq !== undefined)
        requireSeq(options.fromSeq, "fromSeq");
      if (
        options?.toSeq !== undefined &&
        options.toSeq !== Number.POSITIVE_INFINITY
      )
        requireSeq(options.toSeq, "toSeq");
      yield* readEvents(db, SessionId(sessionId), options);
    },
    async session(sessionId) {
      const { header, head } = await readSessionRow(db, SessionId(sessionId));
      return { header, head };
    },
    sessionIds: () => readSessionIds(db),
    async messagesAt(sessionId, seq) {
      return readMessagesAt(db, SessionId(sessionId), seq);
    },
    async requestAt(sessionId, query) {
      return readRequestAt(db, SessionId(sessionId), query);
    },
    async *transcript(sessionId, options) {
      yield* readTranscript(db, SessionId(sessionId), options);
    },
    async sessions(options) {
      if (options?.limit !== undefined) requireSeq(options.limit, "limit");
      return readSessions(db, options?.limit ?? DEFAULT_LIMIT);
    },
    async messages(sessionId, options) {
      const id = SessionId(sessionId);
      if (options?.limit !== undefined) requireSeq(options.limit, "limit");
      if (options?.after !== undefined && options.after !== -1)
        requireSeq(options.after, "after");
      const asOfSeq = await readAsOfSeq(db, id, "messages");
      const query: MessagesQuery = {
        show: "surface",
        limit: DEFAULT_LIMIT,
        after: -1,
        ...options,
      };
      return { rows: await readMessages(db, id, query), asOfSeq };
    },
    async usage(sessionId) {
      const id = SessionId(sessionId);
      const asOfSeq = await readAsOfSeq(db, id, "usage");
      return { rows: await readUsage(db, id), asOfSeq };
    },
    async titles(sessionId) {
      const id = SessionId(sessionId);
      const asOfSeq = await readAsOfSeq(db, id, "titles");
      return { rows: await readTitles(db, id), asOfSeq };
    },
    async tokenStats(sessionId) {
      return readTokenStats(
        db,
        sessionId === undefined ? null : SessionId(sessionId),
      );
    },
    async waitFor(sessionId, { seq, projections = null, timeoutMs = 5_000 }) {
      const id = SessionId(sessionId);
      requireSeq(seq, "seq");
      const deadlineMs = requireTimeout(timeoutMs, "timeoutMs");
      const { head, factsHead } = await readSessionRow(db, id);
      if (seq >= head)
        throw new EventNotFoundError({ sessionId: id, seq, head });
      await waitForSeq(db, {
        sessionId: id,
        seq,
        factsHead,
        projections,
        timeoutMs: deadlineMs,
      });
    },
    registerEventType: (type) => context.types.register(type),
    eventTypes: () => context.types.list(),
    knowsEventType: (type) => context.types.knows(type),
    async check(sessionId, options) {
      return checkSession(db, SessionId(sessionId), {
        fixState: options?.fixState ?? false,
      });
    },
    async recordFindings(sessionId, findings) {
      await recordFindings(db, SessionId(sessionId), findings);
    },
    limits,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Everything of the caller's is checked and taken over before the first wait. */
async function append(
  context: {
    readonly db: Db;
    readonly send: (request: AppendRequest) => Promise<AppendResult>;
    readonly doorbell: Doorbell;
    readonly limits: SizeLimits;
  },
  sessionId: SessionId,
  take: (firstSeq: number | null) => readonly AppendItem[],
  options: AppendOptions,
): Promise<AppendResult> {
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
  const request: AppendRequest = {
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
    limits: context.limits,
  };
  if (request.items.length === 0)
    return appendNothing(context.db, sessionId, expectedSeq);
  const result = await context.send(request);
  context.doorbell.ring();
  return result;
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
