/**
 * Every failure a caller of Turnlog can meet: one base class, one leaf per code.
 * Messages say what happened, with the values, and what to do next; programs read the fields.
 */

/** Stable machine-readable names of failures. */
export type ErrorCode =
  | "APPEND_ID_REUSED"
  | "APPEND_OUTCOME_UNKNOWN"
  | "BUILD_LOCKED"
  | "BUILD_NOT_FOUND"
  | "BUILD_UNFED"
  | "BUILD_VERIFY_FAILED"
  | "CONFIG_INVALID"
  | "DATABASE_UNAVAILABLE"
  | "EMBEDDED_UNAVAILABLE"
  | "EVENT_INVALID"
  | "EVENT_NOT_FOUND"
  | "EVENT_TOO_LARGE"
  | "EVENT_TYPE_UNKNOWN"
  | "FILE_EXISTS"
  | "FILE_UNWRITABLE"
  | "FORMAT_UNSUPPORTED"
  | "IMPORT_CONFLICT"
  | "LOG_CORRUPT"
  | "PARKED_NOT_FOUND"
  | "PROJECTION_INVALID"
  | "PROJECTION_PARKED"
  | "PROJECTION_UNKNOWN"
  | "PROJECTION_VERSION_UNKNOWN"
  | "QUEUE_UNAVAILABLE"
  | "REBUILD_ENDED"
  | "REBUILD_STOPPED"
  | "REQUEST_NOT_FOUND"
  | "RULES_OUTDATED"
  | "SCHEMA_OUTDATED"
  | "SCHEMA_TOO_NEW"
  | "SESSION_BUSY"
  | "SESSION_DELETED"
  | "SESSION_NOT_FOUND"
  | "STORE_CLOSED"
  | "TRANSACTION_UNSUITABLE"
  | "VIEW_LOCKED"
  | "WAIT_TIMEOUT"
  | "WRITER_CLOSED"
  | "WRITER_FENCED"
  | "WRITER_REENTRANT"
  | "WRONG_EXPECTED_SEQ";

/** Base of all Turnlog errors. `retryable` says whether the same call may succeed later unchanged. */
export abstract class TurnlogError extends Error {
  abstract readonly code: ErrorCode;
  readonly retryable: boolean = false;
  override get name(): string {
    return this.constructor.name;
  }
}

/** The log is not where the caller thought: somebody else appended first, or the session exists already. */
export class WrongExpectedSeqError extends TurnlogError {
  readonly code = "WRONG_EXPECTED_SEQ";
  readonly sessionId: string;
  readonly expectedSeq: number;
  readonly actualSeq: number;
  constructor(facts: {
    sessionId: string;
    expectedSeq: number;
    actualSeq: number;
  }) {
    super(
      `Session ${facts.sessionId} has ${facts.actualSeq} events, but the append expected ${facts.expectedSeq}. ` +
        `Read from seq ${Math.min(facts.expectedSeq, facts.actualSeq)}, decide again, and append with expectedSeq ${facts.actualSeq}.`,
    );
    this.sessionId = facts.sessionId;
    this.expectedSeq = facts.expectedSeq;
    this.actualSeq = facts.actualSeq;
  }
}

/** An append id was used before, in this session, for other events. */
export class AppendIdReusedError extends TurnlogError {
  readonly code = "APPEND_ID_REUSED";
  readonly sessionId: string;
  readonly appendId: string;
  readonly firstSeq: number;
  constructor(facts: {
    sessionId: string;
    appendId: string;
    firstSeq: number;
  }) {
    super(
      `Append id ${facts.appendId} already stands for other events of session ${facts.sessionId} (from seq ${facts.firstSeq}). ` +
        `Use a new append id for new events; re-send the same events to retry.`,
    );
    this.sessionId = facts.sessionId;
    this.appendId = facts.appendId;
    this.firstSeq = facts.firstSeq;
  }
}

/** The connection was lost while an append was in flight and the deadline passed: it may or may not be stored. */
export class AppendOutcomeUnknownError extends TurnlogError {
  readonly code = "APPEND_OUTCOME_UNKNOWN";
  override readonly retryable = true;
  readonly sessionId: string;
  readonly appendId: string;
  constructor(facts: { sessionId: string; appendId: string; cause: unknown }) {
    super(
      `The database did not confirm append ${facts.appendId} to session ${facts.sessionId} before the deadline. ` +
        `It may be stored. Re-send the same events with the same append id: that never stores them twice.`,
      { cause: facts.cause },
    );
    this.sessionId = facts.sessionId;
    this.appendId = facts.appendId;
  }
}

/** The writer's epoch is over: another writer took the session. */
export class WriterFencedError extends TurnlogError {
  readonly code = "WRITER_FENCED";
  readonly sessionId: string;
  readonly epoch: number;
  constructor(facts: { sessionId: string; epoch: number }) {
    super(
      `Session ${facts.sessionId} was taken over: its writer epoch is now ${facts.epoch}. Open it again to go on.`,
    );
    this.sessionId = facts.sessionId;
    this.epoch = facts.epoch;
  }
}

/** An append can't join this transaction. Nothing was sent but the look at it. */
export class TransactionUnsuitableError extends TurnlogError {
  readonly code = "TRANSACTION_UNSUITABLE";
  constructor(reason: string) {
    super(`An append can't join what was given as tx. ${reason}`);
  }
}

/** A call came from inside a listener of the same writer, while it publishes. Nothing was taken. */
export class WriterReentrantError extends TurnlogError {
  readonly code = "WRITER_REENTRANT";
  readonly sessionId: string;
  constructor(facts: { sessionId: string }) {
    super(
      `A listener of the writer of session ${facts.sessionId} called that writer. Nothing was written; call it once the listener has returned.`,
    );
    this.sessionId = facts.sessionId;
  }
}

/** The writer was closed before the call: nothing was taken. */
export class WriterClosedError extends TurnlogError {
  readonly code = "WRITER_CLOSED";
  readonly sessionId: string;
  constructor(facts: { sessionId: string }) {
    super(
      `The writer of session ${facts.sessionId} is closed, and nothing was written. Open the session again to go on.`,
    );
    this.sessionId = facts.sessionId;
  }
}

/** The session is held: its row is locked for longer than the server's lock timeout, or its writer is alive. */
export class SessionBusyError extends TurnlogError {
  readonly code = "SESSION_BUSY";
  override readonly retryable = true;
  readonly sessionId: string;
  /** How long the session's writer counts as alive, in ms, unless it goes on; null when the row is locked. */
  readonly aliveMs: number | null;
  constructor(facts: { sessionId: string; aliveMs?: number; cause?: unknown }) {
    super(
      facts.aliveMs === undefined
        ? `Session ${facts.sessionId} is locked by another transaction. Nothing was stored; try again, an append with the same append id.`
        : `Session ${facts.sessionId} has a writer that is alive, for ${facts.aliveMs} ms or longer. ` +
            `Wait until it closes, or open the session with takeOver: true to fence it off.`,
      {
        cause: facts.cause,
      },
    );
    this.sessionId = facts.sessionId;
    this.aliveMs = facts.aliveMs ?? null;
  }
}

/** No session has this id. */
export class SessionNotFoundError extends TurnlogError {
  readonly code = "SESSION_NOT_FOUND";
  readonly sessionId: string;
  constructor(facts: { sessionId: string }) {
    super(
      `There is no session ${facts.sessionId}. List the stored ones with: turnlog sessions`,
    );
    this.sessionId = facts.sessionId;
  }
}

/** The log has no event with this seq. */
export class EventNotFoundError extends TurnlogError {
  readonly code = "EVENT_NOT_FOUND";
  readonly sessionId: string;
  readonly seq: number;
  readonly head: number;
  constructor(facts: { sessionId: string; seq: number; head: number }) {
    super(
      `Session ${facts.sessionId} has no event ${facts.seq}: it has ${facts.head}, from seq 0.`,
    );
    this.sessionId = facts.sessionId;
    this.seq = facts.seq;
    this.head = facts.head;
  }
}

/** The log has no such request attempt, or none of the step's attempts became an answer. */
export class RequestNotFoundError extends TurnlogError {
  readonly code = "REQUEST_NOT_FOUND";
  readonly sessionId: string;
  readonly turn: number;
  readonly step: number;
  /** Null when the last answered attempt was asked for. */
  readonly attempt: number | null;
  readonly attemptCount: number;
  constructor(facts: {
    sessionId: string;
    turn: number;
    step: number;
    attempt: number | null;
    attemptCount: number;
  }) {
    const asked =
      facts.attempt === null
        ? "became an answer"
        : `is number ${facts.attempt}`;
    super(
      `Of ${facts.attemptCount} attempts at step ${facts.step} of turn ${facts.turn} in session ${facts.sessionId} none ${asked}. ` +
        `Name an attempt from 1 to ${facts.attemptCount}.`,
    );
    this.sessionId = facts.sessionId;
    this.turn = facts.turn;
    this.step = facts.step;
    this.attempt = facts.attempt;
    this.attemptCount = facts.attemptCount;
  }
}

/** The session was deleted; its id can only be used again on purpose, or the caller knew an earlier session of that id. */
export class SessionDeletedError extends TurnlogError {
  readonly code = "SESSION_DELETED";
  readonly sessionId: string;
  constructor(facts: { sessionId: string }) {
    super(
      `Session ${facts.sessionId} was deleted. Use another id, or append with expectedSeq 0 and recreate: true.`,
    );
    this.sessionId = facts.sessionId;
  }
}

/** An event, header or id breaks a rule of the log. Nothing of its batch was stored. */
export class EventInvalidError extends TurnlogError {
  readonly code = "EVENT_INVALID";
  /** Position in the batch; null when the header or the call itself is wrong. */
  readonly index: number | null;
  readonly seq: number | null;
  readonly type: string | null;
  /** Short stable name of the broken rule. */
  readonly rule: string;
  /** Where in the event: `data.message.id`; empty for the event itself. */
  readonly path: string;
  constructor(facts: {
    index: number | null;
    seq: number | null;
    type: string | null;
    rule: string;
    path: string;
    reason: string;
  }) {
    const where =
      facts.index === null
        ? ""
        : `Event ${facts.index} of the batch${facts.type === null ? "" : ` (${printable(facts.type)})`}: `;
    super(
      `${where}${facts.path === "" ? "" : `${facts.path} `}${facts.reason}. Nothing was stored.`,
    );
    this.index = facts.index;
    this.seq = facts.seq;
    this.type = facts.type;
    this.rule = facts.rule;
    this.path = facts.path;
  }
}

/** An event or an append is larger than this store takes. Nothing was stored. */
export class EventTooLargeError extends TurnlogError {
  readonly code = "EVENT_TOO_LARGE";
  /** Position in the batch; null when the append as a whole is too large. */
  readonly index: number | null;
  /** Characters of JSON text, and how many are allowed. */
  readonly actual: number;
  readonly limit: number;
  constructor(facts: { index: number | null; actual: number; limit: number }) {
    const what =
      facts.index === null ? "The append" : `Event ${facts.index} of the batch`;
    const remedy =
      facts.index === null
        ? "Append in several batches, or raise maxAppendCharacters."
        : "Keep large content elsewhere and refer to it, or raise maxEventCharacters.";
    super(
      `${what} has ${facts.actual} characters of JSON, more than the limit of ${facts.limit}. Nothing was stored. ${remedy}`,
    );
    this.index = facts.index;
    this.actual = facts.actual;
    this.limit = facts.limit;
  }
}

/** A required event type is not known to this version. */
export class EventTypeUnknownError extends TurnlogError {
  readonly code = "EVENT_TYPE_UNKNOWN";
  readonly type: string;
  readonly seq: number;
  constructor(facts: { type: string; seq: number }) {
    super(
      `Event ${facts.seq} has the type ${JSON.stringify(facts.type)}, which this version does not know and which is not marked ignorable. ` +
        `The log is intact; a newer version may read it.`,
    );
    this.type = facts.type;
    this.seq = facts.seq;
  }
}

/** An export would overwrite a file. */
export class FileExistsError extends TurnlogError {
  readonly code = "FILE_EXISTS";
  readonly path: string;
  constructor(facts: { path: string }) {
    super(
      `${facts.path} is there already and was left as it is. Name another place, or overwrite it with --force.`,
    );
    this.path = facts.path;
  }
}

/** An export can't write its file. */
export class FileUnwritableError extends TurnlogError {
  readonly code = "FILE_UNWRITABLE";
  readonly path: string;
  constructor(facts: { path: string; reason: string; cause?: unknown }) {
    const remedy = facts.reason === "ENOSPC" ? "Make room, or name" : "Name";
    super(
      `${facts.path} can't be written (${facts.reason}). ${remedy} another place.`,
      { cause: facts.cause },
    );
    this.path = facts.path;
  }
}

/** A log of another format version or a retired shape: intact, but not for this version. */
export class FormatUnsupportedError extends TurnlogError {
  readonly code = "FORMAT_UNSUPPORTED";
}

/** A file or a stored row that can't be a session log. */
export class LogCorruptError extends TurnlogError {
  readonly code = "LOG_CORRUPT";
}

/** A file's session id is stored already, with other content. */
export class ImportConflictError extends TurnlogError {
  readonly code = "IMPORT_CONFLICT";
  readonly sessionId: string;
  constructor(facts: { sessionId: string; reason: string }) {
    super(`session ${facts.sessionId} is stored already, ${facts.reason}`);
    this.sessionId = facts.sessionId;
  }
}

/** The session's state was written under newer rules than this client knows. */
export class RulesOutdatedError extends TurnlogError {
  readonly code = "RULES_OUTDATED";
  readonly sessionId: string;
  constructor(facts: { sessionId: string }) {
    super(
      `Session ${facts.sessionId} was last written under newer rules than this client knows. Upgrade turnlog to append to it.`,
    );
    this.sessionId = facts.sessionId;
  }
}

/** A projection is defined in a way that no build can be made of, or its fold wrote a row that is not its to write. */
export class ProjectionInvalidError extends TurnlogError {
  readonly code = "PROJECTION_INVALID";
  readonly projection: string;
  /** Null when it is about the projection and none of its tables. */
  readonly table: string | null;
  readonly reason: string;
  constructor(facts: {
    projection: string;
    table: string | null;
    reason: string;
  }) {
    const table = facts.table === null ? "" : `, table ${facts.table}`;
    super(
      `Projection ${printable(facts.projection)}${table}: ${facts.reason}.`,
    );
    this.projection = facts.projection;
    this.table = facts.table;
    this.reason = facts.reason;
  }
}

/** No live build has this projection. */
export class ProjectionUnknownError extends TurnlogError {
  readonly code = "PROJECTION_UNKNOWN";
  readonly projection: string;
  constructor(facts: { projection: string; known: readonly string[] }) {
    super(
      `There is no live projection ${facts.projection}. Known: ${facts.known.join(", ") || "none (run: turnlog migrate)"}.`,
    );
    this.projection = facts.projection;
  }
}

/** A build is of a version of its projection that this program has not got. */
export class ProjectionVersionUnknownError extends TurnlogError {
  readonly code = "PROJECTION_VERSION_UNKNOWN";
  readonly projection: string;
  readonly version: number;
  constructor(facts: {
    projection: string;
    version: number;
    known: number | null;
  }) {
    const known =
      facts.known === null ? "does not know it" : `has version ${facts.known}`;
    super(
      `The build of projection ${facts.projection} is of version ${facts.version}, but this program ${known}. ` +
        `Use one that has version ${facts.version}, with the same turnlog.config file.`,
    );
    this.projection = facts.projection;
    this.version = facts.version;
  }
}

/** The projection gave up on this session until somebody looks. */
export class ProjectionParkedError extends TurnlogError {
  readonly code = "PROJECTION_PARKED";
  readonly projection: string;
  readonly sessionId: string;
  readonly seq: number | null;
  readonly errorCode: string;
  constructor(facts: {
    projection: string;
    sessionId: string;
    seq: number | null;
    errorCode: string;
  }) {
    super(
      `Projection ${facts.projection} is parked on session ${facts.sessionId}` +
        `${facts.seq === null ? "" : ` at seq ${facts.seq}`} (${facts.errorCode}). The log itself is complete; see: turnlog parked list`,
    );
    this.projection = facts.projection;
    this.sessionId = facts.sessionId;
    this.seq = facts.seq;
    this.errorCode = facts.errorCode;
  }
}

/** The projection has not failed at this session, or no longer has. */
export class ParkedNotFoundError extends TurnlogError {
  readonly code = "PARKED_NOT_FOUND";
  readonly projection: string;
  readonly sessionId: string;
  constructor(facts: { projection: string; sessionId: string }) {
    super(
      `Projection ${facts.projection} is neither parked nor failing at session ${facts.sessionId}. See: turnlog parked list`,
    );
    this.projection = facts.projection;
    this.sessionId = facts.sessionId;
  }
}

/** `waitFor` ran out of time; the events are stored, the read tables are behind. */
export class WaitTimeoutError extends TurnlogError {
  readonly code = "WAIT_TIMEOUT";
  override readonly retryable = true;
  readonly sessionId: string;
  readonly behind: readonly string[];
  constructor(facts: {
    sessionId: string;
    seq: number;
    timeoutMs: number;
    behind: readonly string[];
  }) {
    super(
      `After ${facts.timeoutMs} ms ${facts.behind.join(", ")} had not applied seq ${facts.seq} of session ${facts.sessionId}. ` +
        `The events are stored. Is a projector running? See: turnlog status`,
    );
    this.sessionId = facts.sessionId;
    this.behind = facts.behind;
  }
}

/** The database has no Turnlog schema, or an older one. */
export class SchemaOutdatedError extends TurnlogError {
  readonly code = "SCHEMA_OUTDATED";
  constructor(facts: { found: number | null; needed: number }) {
    super(
      facts.found === null
        ? `The database has no Turnlog schema yet. Create it with: turnlog migrate`
        : `The database has schema version ${facts.found}, this version needs ${facts.needed}. Upgrade it with: turnlog migrate`,
    );
  }
}

/** The database is of a newer Turnlog that no longer serves this client. */
export class SchemaTooNewError extends TurnlogError {
  readonly code = "SCHEMA_TOO_NEW";
  constructor(facts: { found: number; supported: number }) {
    super(
      `The database asks for clients of schema version ${facts.found} or newer, this one is of version ${facts.supported}. Upgrade turnlog.`,
    );
  }
}

/** The database can't be reached, or refused us. */
export class DatabaseUnavailableError extends TurnlogError {
  readonly code = "DATABASE_UNAVAILABLE";
  override readonly retryable = true;
  constructor(reason: string, options?: { cause: unknown }) {
    super(`The database is not available: ${reason}`, options);
  }
}

/** The queue can't be rung. What there is to do stands in Postgres, so nothing is lost by it. */
export class QueueUnavailableError extends TurnlogError {
  readonly code = "QUEUE_UNAVAILABLE";
  override readonly retryable = true;
  constructor(reason: string, options?: { cause: unknown }) {
    super(
      `The queue is not available: ${reason}. Nothing is lost; projectors find the work in Postgres. ` +
        `Check TURNLOG_REDIS_URL and that Redis runs; see: turnlog status`,
      options,
    );
  }
}

/** The embedded Postgres can't run here. */
export class EmbeddedUnavailableError extends TurnlogError {
  readonly code = "EMBEDDED_UNAVAILABLE";
  constructor(reason: string, options?: { cause: unknown }) {
    super(
      `${reason} Set TURNLOG_DATABASE_URL or --database-url to use your own Postgres.`,
      options,
    );
  }
}

/** A rebuild can't go on now: something else is under way, or holds what it needs. Everything is as it was. */
export class BuildLockedError extends TurnlogError {
  readonly code = "BUILD_LOCKED";
  override readonly retryable = true;
  /** Connections in the way, by process id of the server; empty where it is none. */
  readonly blockers: readonly number[];
  constructor(message: string, blockers: readonly number[] = []) {
    super(message);
    this.blockers = blockers;
  }
}

/** There is no such build, or none in a state that this could be done to. */
export class BuildNotFoundError extends TurnlogError {
  readonly code = "BUILD_NOT_FOUND";
}

/** No running projector has the version of a build that is to go live: its tables would stand still. */
export class BuildUnfedError extends TurnlogError {
  readonly code = "BUILD_UNFED";
  readonly projection: string;
  readonly version: number;
  constructor(facts: { projection: string; version: number }) {
    super(
      `No running projector has version ${facts.version} of ${facts.projection}, so nobody would feed its tables. ` +
        `Start workers of the release that has it, then try again.`,
    );
    this.projection = facts.projection;
    this.version = facts.version;
  }
}

/** A new build can't be trusted with its views. The live one is untouched. */
export class BuildVerifyFailedError extends TurnlogError {
  readonly code = "BUILD_VERIFY_FAILED";
  readonly projection: string;
  readonly build: number;
  readonly sessionId: string;
  /** Event that could not be folded; null where rows differ. */
  readonly seq: number | null;
  readonly errorCode: string | null;
  constructor(facts: {
    projection: string;
    build: number;
    sessionId: string;
    seq: number | null;
    errorCode: string | null;
    sessions: number;
  }) {
    const what =
      facts.seq === null
        ? `does not hold what the log gives for session ${printable(facts.sessionId)}`
        : `could not fold session ${printable(facts.sessionId)} at seq ${facts.seq} (${facts.errorCode ?? "UNKNOWN"})`;
    super(
      `Build ${facts.build} of ${facts.projection} ${what}, ${facts.sessions} sessions in all. The live build is untouched. ` +
        `Cancel it with turnlog cancel, mend the projection, and build again.`,
    );
    this.projection = facts.projection;
    this.build = facts.build;
    this.sessionId = facts.sessionId;
    this.seq = facts.seq;
    this.errorCode = facts.errorCode;
  }
}

/** The rebuild was cancelled, or swapped by another process, while this one worked on it. */
export class RebuildEndedError extends TurnlogError {
  readonly code = "REBUILD_ENDED";
  readonly rebuild: number;
  constructor(rebuild: number, step: string) {
    super(
      `Rebuild ${rebuild} is ${step}; nothing is left to do for it. See: turnlog builds`,
    );
    this.rebuild = rebuild;
  }
}

/** The caller asked to stop: what is done is kept, and the same call goes on from there. */
export class RebuildStoppedError extends TurnlogError {
  readonly code = "REBUILD_STOPPED";
  override readonly retryable = true;
  /** Null for a rollback, of which nothing is left. */
  readonly rebuild: number | null;
  constructor(rebuild: number | null) {
    super(
      rebuild === null
        ? "The rollback stopped before the swap. Nothing has changed."
        : `Rebuild ${rebuild} stopped. What is done is kept: run the same command to go on, or turnlog cancel ${rebuild}.`,
    );
    this.rebuild = rebuild;
  }
}

/** The store was closed before the call: nothing was sent. */
export class StoreClosedError extends TurnlogError {
  readonly code = "STORE_CLOSED";
  constructor() {
    super(
      "The store is closed. Nothing was sent; create another store to go on.",
    );
  }
}

/** A read view could not be replaced: somebody has read it all the while. It is as it was, and answers. */
export class ViewLockedError extends TurnlogError {
  readonly code = "VIEW_LOCKED";
  override readonly retryable = true;
  readonly view: string;
  constructor(view: string, options?: { cause: unknown }) {
    super(
      `The view turnlog_read.${view} could not be replaced, since statements on it take long. It is as it was. Try again when they have ended.`,
      options,
    );
    this.view = view;
  }
}

/** A setting is missing or malformed. */
export class ConfigInvalidError extends TurnlogError {
  readonly code = "CONFIG_INVALID";
}

/** On one line, whatever a caller put into it. */
function printable(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
