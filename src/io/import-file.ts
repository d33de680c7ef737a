/** Imports one log file: checked as a whole first, then appended; what is stored already is compared, not repeated. */
import { stat } from "node:fs/promises";
import { SessionNotFoundError, TurnlogError } from "../errors.ts";
import type { SessionInfo, SessionStore } from "../session-store.ts";
import { appendMissing } from "./append-missing.ts";
import { LogFileError } from "./log-file-error.ts";
import { openLogFile } from "./read-log-file.ts";

export interface ImportReport {
  readonly file: string;
  /**
   * `imported`: a new session. `extended`: its tail was missing. `unchanged`: all of it is stored. `empty`: a header
   * without events, nothing stored. `refused`: nothing was changed; see `line` and `reason`.
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
  const base = {
    file,
    sessionId: null,
    events: 0,
    appended: 0,
    line: null,
    reason: null,
  };
  try {
    const { sessionId, events } = await checkFile(store, file, onProgress);
    const known = { ...base, sessionId, events };
    if (events === 0) return { ...known, outcome: "empty" };
    const stored = await findSession(store, sessionId);
    const onAppended = (appended: number): void =>
      onProgress({ file, phase: "append", events: appended });
    const appended = await appendMissing({ store, file, stored, onAppended });
    return {
      ...known,
      appended,
      outcome:
        stored === null
          ? "imported"
          : appended === 0
            ? "unchanged"
            : "extended",
    };
  } catch (error) {
    if (error instanceof LogFileError)
      return {
        ...base,
        outcome: "refused",
        line: error.line,
        reason: error.message,
      };
    if (error instanceof TurnlogError && !error.retryable)
      return { ...base, outcome: "refused", reason: error.message };
    throw error;
  }
}

/** Reads the whole file, so that nothing is stored of one that breaks off in the middle. */
async function checkFile(
  store: SessionStore,
  file: string,
  onProgress: OnProgress,
): Promise<{ readonly sessionId: string; readonly events: number }> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new LogFileError(null, "there is no such file, or it can't be read", {
      cause,
    });
  });
  if (!found.isFile()) throw new LogFileError(null, "it is not a file");
  const log = await openLogFile(file, {
    knowsType: (type) => store.knowsEventType(type),
  });
  let events = 0;
  for await (const line of log.lines) {
    events += line.events.length;
    onProgress({ file, phase: "check", events });
  }
  return { sessionId: log.header.id, events };
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
