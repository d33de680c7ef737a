/** Appends what a log file has beyond the stored session, after comparing all that both have. */
import { ImportConflictError } from "../errors.ts";
import type { SessionEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import { stringifyJson } from "../events/stringify-json.ts";
import type { SessionInfo, SessionStore } from "../session-store.ts";
import { LogFileError } from "./log-file-error.ts";
import { reopenLogFile } from "./read-log-file.ts";

export interface AppendTask {
  readonly store: SessionStore;
  readonly file: string;
  /** The session as it is stored; null when it is not. */
  readonly stored: SessionInfo | null;
  /** Called after each append with the events appended so far. */
  readonly onAppended: (events: number) => void;
}

/** Events and characters of one append, at most (a single event may be longer). */
const BATCH_EVENTS = 2_000;
const BATCH_CHARACTERS = 2 * 1024 * 1024;

/**
 * Returns how many events were appended.
 * @throws LogFileError with an ImportConflictError as its cause where file and store differ: nothing was appended
 */
export async function appendMissing(task: AppendTask): Promise<number> {
  const { store, file, stored } = task;
  const log = await reopenLogFile(file);
  const sessionId = log.header.id;
  if (
    stored !== null &&
    stringifyJson(stored.header) !== stringifyJson(log.header)
  )
    throw conflict(1, sessionId, "with another header");
  const head = stored?.head ?? 0;
  const known = new StoredEvents(store, sessionId, head);
  const appender = new Appender(task, head, log.header);
  for await (const line of log.lines) {
    for (const event of line.events) {
      if (event.seq >= head)
        await appender.add(event, line.characters / line.events.length);
      else if (!(await known.equals(event)))
        throw conflict(
          line.number,
          sessionId,
          `with another event ${event.seq}`,
        );
    }
  }
  await appender.flush();
  return appender.appended;
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

/** Collects events and appends them in batches, each where the one before ended. */
class Appender {
  appended = 0;
  readonly #task: AppendTask;
  readonly #header: SessionHeader;
  #nextSeq: number;
  #batch: SessionEvent[] = [];
  #characters = 0;

  constructor(task: AppendTask, nextSeq: number, header: SessionHeader) {
    this.#task = task;
    this.#nextSeq = nextSeq;
    this.#header = header;
  }

  async add(event: SessionEvent, characters: number): Promise<void> {
    this.#batch.push(event);
    this.#characters += characters;
    if (
      this.#batch.length >= BATCH_EVENTS ||
      this.#characters >= BATCH_CHARACTERS
    )
      await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const { id, version: _version, ...header } = this.#header;
    const result = await this.#task.store.append(id, this.#batch, {
      expectedSeq: this.#nextSeq,
      header,
    });
    this.#nextSeq = result.nextSeq;
    this.appended += this.#batch.length;
    this.#batch = [];
    this.#characters = 0;
    this.#task.onAppended(this.appended);
  }
}

function conflict(
  line: number,
  sessionId: string,
  reason: string,
): LogFileError {
  const cause = new ImportConflictError({ sessionId, reason });
  return new LogFileError(line, cause.message, { cause });
}
