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
  /** What was checked: the header, and how many events follow it. A file that has grown since is read no further. */
  readonly header: SessionHeader;
  readonly events: number;
  /** The session as it is stored; null when it is not. */
  readonly stored: SessionInfo | null;
  /** Called after each append with the number of events in it. */
  readonly onAppended: (events: number) => void;
}

/** Events and characters of one append, at most (a single event may be longer). */
const BATCH_EVENTS = 2_000;
const BATCH_CHARACTERS = 2 * 1024 * 1024;

/**
 * Returns when all checked events of the file are stored.
 * @throws LogFileError where file and store differ, or where the file is no longer the one that was checked
 * @throws WrongExpectedSeqError when somebody else appended to the session meanwhile
 */
export async function appendMissing(task: AppendTask): Promise<void> {
  const { store, file, stored, header, events } = task;
  const log = await reopenLogFile(file);
  if (stringifyJson(log.header) !== stringifyJson(header))
    throw new LogFileError(1, "the file has changed while it was read");
  if (stored !== null && stringifyJson(stored.header) !== stringifyJson(header))
    throw conflict(1, header.id, "with another header");
  const head = stored?.head ?? 0;
  const known = new StoredEvents(store, header.id, Math.min(head, events));
  const appender = new Appender(task, head);
  for await (const line of log.lines) {
    for (const event of line.events.filter(({ seq }) => seq < events)) {
      if (event.seq >= head)
        await appender.add(event, line.characters / line.events.length);
      else if (!(await known.equals(event)))
        throw conflict(
          line.number,
          header.id,
          `with another event ${event.seq}`,
        );
    }
    if ((line.events.at(-1)?.seq ?? 0) >= events - 1) break;
  }
  await appender.flush();
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
  readonly #task: AppendTask;
  #nextSeq: number;
  #batch: SessionEvent[] = [];
  #characters = 0;

  constructor(task: AppendTask, nextSeq: number) {
    this.#task = task;
    this.#nextSeq = nextSeq;
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
    const { id, version: _version, ...header } = this.#task.header;
    const result = await this.#task.store.append(id, this.#batch, {
      expectedSeq: this.#nextSeq,
      header,
    });
    this.#nextSeq = result.nextSeq;
    this.#task.onAppended(this.#batch.length);
    this.#batch = [];
    this.#characters = 0;
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
