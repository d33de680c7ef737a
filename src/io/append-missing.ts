/** Appends what a log has beyond the stored session, after comparing all that both have. */
import { ImportConflictError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import { membersOf } from "../events/expand-runs.ts";
import { eventCountOf, type LogRecord } from "../events/log-record.ts";
import type { SessionHeader } from "../events/header.ts";
import type { Finding } from "../events/rules/log-audit.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { SessionInfo, SessionStore } from "../session-store.ts";
import { LogFileError } from "./log-file-error.ts";
import type { OpenLog } from "./log-records.ts";

export interface AppendTask {
  readonly store: SessionStore;
  readonly open: OpenLog;
  /** What was checked: the header, and how many events follow it. A file that has grown since is read no further. */
  readonly header: SessionHeader;
  readonly events: number;
  /** The session as it is stored; null when it is not. */
  readonly stored: SessionInfo | null;
  /** What the log breaks, accepted as it is: kept beside the events as they are stored. Null: nothing may be broken. */
  readonly accepted: readonly Finding[] | null;
  /** Compare only, and count what would be appended. */
  readonly dryRun: boolean;
  /** Called after each append with the number of events in it. */
  readonly onAppended: (events: number) => void;
}

/** Lines and their characters of one append, at most (a single line may be longer). */
const BATCH_LINES = 2_000;
const BATCH_CHARACTERS = 2 * 1024 * 1024;

/**
 * Returns when all checked events of the log are stored.
 * @throws LogFileError where log and store differ, or where the log is no longer the one that was checked
 * @throws WrongExpectedSeqError when somebody else appended to the session meanwhile
 */
export async function appendMissing(task: AppendTask): Promise<void> {
  const { store, stored, header, events } = task;
  await using log = await task.open();
  if (stringifyJson(log.header) !== stringifyJson(header))
    throw changed(1, "the file has changed while it was read");
  if (stored !== null && stringifyJson(stored.header) !== stringifyJson(header))
    throw conflict(1, header.id, "with another header");
  const head = stored?.head ?? 0;
  const known = new StoredEvents(store, header.id, Math.min(head, events));
  const appender = new Appender(task, head);
  let last = { line: 1, nextSeq: 0 };
  for await (const { record, seq, line, characters } of log.records) {
    const nextSeq = seq + eventCountOf(record);
    last = { line, nextSeq };
    const isWhole = seq >= head && nextSeq <= events;
    if (isWhole) await appender.add(record, characters);
    else
      for (const event of eventsOf(record, line)) {
        if (event.seq >= events) break;
        if (event.seq >= head)
          await appender.add({ event: { ...event }, characters }, characters);
        else if (!(await known.equals(event)))
          throw conflict(line, header.id, `with another event ${event.seq}`);
      }
    if (nextSeq >= events) break;
  }
  await appender.end();
  if (last.nextSeq < events)
    throw changed(
      last.line,
      `the file has changed while it was read: nothing of it is left behind seq ${last.nextSeq - 1}`,
    );
}

/** The store checks each event again as it is appended, so a file that changed meanwhile does no harm. */
function eventsOf(record: LogRecord, line: number): readonly SessionEvent[] {
  if ("run" in record) return membersOf(record.run);
  if (!isEvent(record.event))
    throw changed(line, "the file has changed while it was read");
  return [record.event];
}

function isEvent(value: object): value is SessionEvent {
  return (
    "type" in value &&
    typeof value.type === "string" &&
    "seq" in value &&
    typeof value.seq === "number" &&
    "time" in value &&
    typeof value.time === "number" &&
    "data" in value
  );
}

/** The stored events, to be compared one after the other. */
class StoredEvents {
  readonly #events: AsyncIterator<SessionEvent> | null;

  constructor(store: SessionStore, sessionId: string, head: number) {
    this.#events =
      head === 0 ? null : store.read(sessionId)[Symbol.asyncIterator]();
  }

  async equals(event: SessionEvent): Promise<boolean> {
    const next = await this.#events?.next();
    return (
      next?.done === false && stringifyJson(next.value) === stringifyJson(event)
    );
  }
}

/** Appends events in batches, each where the one before ended; while one is under way the next is collected. */
class Appender {
  readonly #task: AppendTask;
  #nextSeq: number;
  #batch: LogRecord[] = [];
  #characters = 0;
  #underWay: Promise<void> = Promise.resolve();

  constructor(task: AppendTask, nextSeq: number) {
    this.#task = task;
    this.#nextSeq = nextSeq;
  }

  async add(record: LogRecord, characters: number): Promise<void> {
    this.#batch.push(record);
    this.#characters += characters;
    if (
      this.#batch.length >= BATCH_LINES ||
      this.#characters >= BATCH_CHARACTERS
    )
      await this.#flush();
  }

  /** Returns when everything is stored. */
  async end(): Promise<void> {
    await this.#flush();
    await this.#underWay;
  }

  /** Returns when the batch before is stored. */
  async #flush(): Promise<void> {
    await this.#underWay;
    const records = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    if (records.length === 0) return;
    this.#underWay = this.#append(records);
    // Whoever waits for it next gets its failure.
    this.#underWay.catch(() => undefined);
  }

  async #append(records: readonly LogRecord[]): Promise<void> {
    const { store, dryRun, accepted, onAppended } = this.#task;
    const { id, version: _version, ...header } = this.#task.header;
    if (!dryRun)
      await store.appendRecords(id, records, {
        expectedSeq: this.#nextSeq,
        header,
        allowFindings: accepted !== null,
      });
    const firstSeq = this.#nextSeq;
    const count = records.reduce(
      (sum, record) => sum + eventCountOf(record),
      0,
    );
    this.#nextSeq += count;
    const here = (accepted ?? []).filter(
      ({ seq }) => seq !== null && seq >= firstSeq && seq < this.#nextSeq,
    );
    if (!dryRun && here.length > 0) await store.recordFindings(id, here);
    onAppended(count);
  }
}

function changed(line: number, reason: string): LogFileError {
  return new LogFileError("FILE_CHANGED", line, reason);
}

function conflict(
  line: number,
  sessionId: string,
  reason: string,
): LogFileError {
  const { code, message } = new ImportConflictError({ sessionId, reason });
  return new LogFileError(code, line, message);
}
