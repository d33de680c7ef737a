/** Imports one log file: checked as a whole first, then appended; what is stored already is compared, not repeated. */
import { stat } from "node:fs/promises";
import {
  EventInvalidError,
  EventTooLargeError,
  EventTypeUnknownError,
  SessionDeletedError,
  SessionNotFoundError,
  WrongExpectedSeqError,
} from "../errors.ts";
import type { SessionHeader } from "../events/header.ts";
import type { SessionInfo, SessionStore } from "../session-store.ts";
import { appendMissing, type AppendTask } from "./append-missing.ts";
import { LogFileError } from "./log-file-error.ts";
import { openLogFile } from "./read-log-file.ts";

export interface ImportReport {
  readonly file: string;
  /**
   * `imported`: a new session. `extended`: its tail was missing. `unchanged`: all of it is stored. `empty`: a header
   * without events, nothing stored. `refused`: see `line` and `reason`; nothing was changed, unless the file or the session changed while it was
   * imported: then `appended` says how far it had come.
   */
  readonly outcome: "imported" | "extended" | "unchanged" | "empty" | "refused";
  readonly sessionId: string | null;
  /** Events of the file, and how many of them were appended now. */
  readonly events: number;
  readonly appended: number;
  /** From 1, the header included; null when the file is not refused, or not for one line. */
  readonly line: number | null;
  readonly reason: string | null;
}

interface ImportProgress {
  readonly file: string;
  /** `check` goes first over the whole file, then `append`. */
  readonly phase: "check" | "append";
  readonly events: number;
}

type OnProgress = (progress: ImportProgress) => void;

/** How often an import looks again when somebody else appends to the same session. */
const ATTEMPTS = 20;

/**
 * Imports a plain JSONL session log that opens as it is. Reads the file twice and never holds it whole. The file's own
 * trouble is not thrown, it is in the report.
 * @throws DatabaseUnavailableError and others that are not about the file
 */
export async function importFile(
  store: SessionStore,
  file: string,
  onProgress: OnProgress = () => undefined,
): Promise<ImportReport> {
  const report = {
    file,
    sessionId: null,
    events: 0,
    appended: 0,
    line: null,
    reason: null,
  };
  let appended = 0;
  try {
    const { header, events } = await checkFile(store, file, onProgress);
    const known = { ...report, sessionId: header.id, events };
    if (events === 0) return { ...known, outcome: "empty" };
    const onAppended = (count: number): void => {
      appended += count;
      onProgress({ file, phase: "append", events: appended });
    };
    const isNew = await appendAll({ store, file, header, events, onAppended });
    return {
      ...known,
      appended,
      outcome: appended === 0 ? "unchanged" : isNew ? "imported" : "extended",
    };
  } catch (error) {
    const line = lineOf(error);
    if (line === undefined) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { ...report, appended, outcome: "refused", line, reason };
  }
}

/** Appends what is missing, and looks again when another importer of the same session was faster. */
async function appendAll(task: Omit<AppendTask, "stored">): Promise<boolean> {
  let isNew = false;
  for (let attempt = 1; ; attempt += 1) {
    const stored = await findSession(task.store, task.header.id);
    isNew ||= stored === null;
    try {
      await appendMissing({ ...task, stored });
      return isNew;
    } catch (error) {
      if (!(error instanceof WrongExpectedSeqError) || attempt === ATTEMPTS)
        throw error;
    }
  }
}

/** Line of an error that is about the file or its session, null where it is about no line; undefined for any other. */
function lineOf(error: unknown): number | null | undefined {
  if (error instanceof LogFileError) return error.line;
  const isAboutFile =
    error instanceof EventInvalidError ||
    error instanceof EventTypeUnknownError ||
    error instanceof EventTooLargeError ||
    error instanceof SessionDeletedError ||
    error instanceof WrongExpectedSeqError;
  return isAboutFile ? null : undefined;
}

/** Reads the whole file, so that nothing is stored of one that breaks off in the middle. */
async function checkFile(
  store: SessionStore,
  file: string,
  onProgress: OnProgress,
): Promise<{ readonly header: SessionHeader; readonly events: number }> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new LogFileError(null, "there is no such file, or it can't be read", {
      cause,
    });
  });
  if (!found.isFile()) throw new LogFileError(null, "it is not a file");
  const { maxEventCharacters } = store.limits;
  const log = await openLogFile(file, {
    knowsType: (type) => store.knowsEventType(type),
    maxEventCharacters,
  });
  let events = 0;
  for await (const line of log.lines) {
    events += line.events.length;
    onProgress({ file, phase: "check", events });
  }
  return { header: log.header, events };
}

async function findSession(
  store: SessionStore,
  sessionId: string,
): Promise<SessionInfo | null> {
  try {
    return await store.session(sessionId);
  } catch (error) {
    if (error instanceof SessionNotFoundError) return null;
    throw error;
  }
}
