/** What a store can do. */
import type { NewEvent, SessionEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import type { LogRecord } from "../events/log-record.ts";
import type { Finding } from "../events/rules/log-audit.ts";
import type { DerivedMessage } from "../events/derive-messages.ts";
import type { TranscriptItem } from "../events/transcript.ts";
import type { AppendResult } from "../log/append-request.ts";
import type { CheckReport } from "../log/check-session.ts";
import type { SizeLimits } from "../log/encode-append.ts";
import type { EventWindow, WindowOptions } from "../log/event-window.ts";
import type { RegisteredType } from "../log/event-types.ts";
import type { SessionInspection } from "../log/inspect.ts";
import type { ReadOptions } from "../log/read.ts";
import type { RecordedRequest, RequestQuery } from "../log/request-at.ts";
import type { EventTrace } from "../log/trace-event.ts";
import type { TranscriptOptions } from "../log/transcript.ts";
import type { SessionsQuery } from "../query/list-sessions.ts";
import type { MessagesQuery } from "../query/read-views.ts";
import type {
  MessageRow,
  SessionListRow,
  TitleRow,
  TokenStatsRow,
  UsageRow,
} from "../query/views.ts";
import type {
  CreateOptions,
  OpenOptions,
  TakenOver,
} from "../writer/open-session.ts";
import type { SessionWriter } from "../writer/session-writer.ts";
import type { AppendOptions } from "./appending.ts";

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
   * SessionBusyError, RulesOutdatedError, DatabaseUnavailableError, TransactionUnsuitableError
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
  /**
   * Opens a session for a writer of its own and brings it to where work can go on: a turn that a crash has left open is
   * closed, and `session/end-seed` marks where the new life begins, unless it stands there already. Every earlier writer is
   * fenced off. A lost connection leaves it unknown whether the session is held; it is free again after `holdMs`.
   * @throws SessionBusyError while its writer is alive, unless that is taken over; SessionNotFoundError,
   * SessionDeletedError, RulesOutdatedError, DatabaseUnavailableError, AppendOutcomeUnknownError; WriterFencedError when
   * another one took it over meanwhile; WrongExpectedSeqError when others kept appending
   * @example await using writer = await store.open(id)
   */
  open(sessionId: string, options?: OpenOptions): Promise<SessionWriter>;
  /**
   * A writer for a new session, which is created with its first events: nothing is stored before.
   * @throws WrongExpectedSeqError when there is one; SessionDeletedError when there was one; EventInvalidError,
   * DatabaseUnavailableError
   * @example await using writer = await store.create(id, { header: { cwd: "/srv/app" } })
   */
  create(sessionId: string, options?: CreateOptions): Promise<SessionWriter>;
  /**
   * Fences every writer of a session off and holds it for nobody. Afterwards no append of theirs, in flight or repeated,
   * can be stored; what is below `head` is all there is. Appends without a writer are not touched by it.
   * @throws SessionNotFoundError, SessionDeletedError, SessionBusyError, DatabaseUnavailableError
   */
  takeOver(sessionId: string): Promise<TakenOver>;
  /**
   * Shows a session as opening it would leave it: a turn that a crash has left open is closed. Writes nothing.
   * @throws SessionNotFoundError, SessionDeletedError
   */
  inspect(sessionId: string): Promise<SessionInspection>;
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
  /**
   * Sessions, those with the latest human prompt first, by pages: `after` is the last row of the page before.
   * @example const more = await store.sessions({ limit: 20, cwd: "/srv/app", after: rows.at(-1) })
   */
  sessions(options?: SessionsQuery): Promise<readonly SessionListRow[]>;
  /**
   * One event and its neighbours.
   * @throws EventNotFoundError, SessionNotFoundError, SessionDeletedError
   */
  event(
    sessionId: string,
    seq: number,
    options?: WindowOptions,
  ): Promise<EventWindow>;
  /**
   * What an event was made from, what was made from it, and what replaced it on the surface, up to what stands there now.
   * @throws EventNotFoundError, SessionNotFoundError, SessionDeletedError
   */
  traceEvent(sessionId: string, seq: number): Promise<EventTrace>;
  /**
   * A token for each session that is stored, of up to 1,000: where it is the one of last time, nothing was appended since,
   * and it is the same session. Reads no log.
   */
  revisions(
    sessionIds: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
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
