/** Imports one log file: checked as a whole first, then appended; what is stored already is compared, not repeated. */
import {
  EventInvalidError,
  EventTooLargeError,
  EventTypeUnknownError,
  SessionDeletedError,
  SessionNotFoundError,
  WrongExpectedSeqError,
} from "../errors.ts";
import type { SessionHeader } from "../events/header.ts";
import type { Finding } from "../events/rules/log-audit.ts";
import type { SessionInfo, SessionStore } from "../session-store.ts";
import { appendMissing, type AppendTask } from "./append-missing.ts";
import { checkRecords, type Checked } from "./check-records.ts";
import { LogFileError, type RefusalCode } from "./log-file-error.ts";
import { requireFile } from "./require-file.ts";
import {
  openLogRecords,
  type OpenLog,
  type ReadingNotes,
  type TornTail,
} from "./log-records.ts";

export interface ImportReport {
  readonly file: string;
  /**
   * `imported`: a new session. `extended`: its tail was missing. `unchanged`: all of it is stored. `empty`: a header
   * without events, nothing stored. `refused`: see `code`, `line` and `reason`; nothing was changed, unless the file or
   * the session changed while it was imported: then `appended` says how far it had come.
   */
  readonly outcome: "imported" | "extended" | "unchanged" | "empty" | "refused";
  readonly sessionId: string | null;
  /** Events of the file, and how many of them were appended now; in a dry run, how many would be. */
  readonly events: number;
  readonly appended: number;
  /** Lines at the end that are left out, since the writer died over them; null when there are none. */
  readonly tail: TornTail | null;
  /** Events in a shape of earlier writers that were converted. */
  readonly converted: number;
  /** What came of a transcript of another agent, and what did not: one line each. */
  readonly remarks: readonly string[];
  /** Rules that events break among each other; of a file with more, `findings` holds the first thousand. */
  readonly findingCount: number;
  readonly findings: readonly Finding[];
  /** Null when the file is not refused. */
  readonly code: RefusalCode | null;
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

export interface ImportOptions {
  /** How the log is read. @defaultValue as a JSONL session log */
  readonly open?: OpenLog;
  /** Refuses a file before anything of it is read on; throws LogFileError. */
  readonly requireHeader?: (header: SessionHeader) => void;
  /** Imports a log whose events break rules among each other as it is; what they break is kept beside it. */
  readonly allowFindings?: boolean;
  /** Checks and compares, and stores nothing. */
  readonly dryRun?: boolean;
  readonly onProgress?: (progress: ImportProgress) => void;
}

/** How often an import looks again when somebody else appends to the same session. */
const ATTEMPTS = 20;

const NOTHING = {
  sessionId: null,
  events: 0,
  appended: 0,
  tail: null,
  converted: 0,
  remarks: [],
  findingCount: 0,
  findings: [],
  code: null,
  line: null,
  reason: null,
};

/**
 * Imports a session log. Reads the file twice and never holds it whole. The file's own trouble is not thrown, it is in
 * the report.
 * @throws DatabaseUnavailableError and others that are not about the file
 */
export async function importFile(
  store: SessionStore,
  file: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { onProgress = () => undefined } = options;
  const report: ImportReport = { ...NOTHING, file, outcome: "empty" };
  let appended = 0;
  const onAppended = (count: number): void => {
    appended += count;
    onProgress({ file, phase: "append", events: appended });
  };
  try {
    const { open, header, notes, checked } = await checkLog(
      store,
      file,
      options,
    );
    const { events, findings, findingCount } = checked;
    const known = { ...report, ...notes, findings, findingCount, events };
    if (events === 0) return { ...known, sessionId: header.id };
    const isNew = await appendAll({
      store,
      open,
      header,
      events,
      onAppended,
      accepted: options.allowFindings === true ? findings : null,
      dryRun: options.dryRun === true,
    });
    if (findings.length > 0 && options.dryRun !== true)
      await store.recordFindings(header.id, findings);
    return {
      ...known,
      sessionId: header.id,
      appended,
      outcome: appended === 0 ? "unchanged" : isNew ? "imported" : "extended",
    };
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    if (refusal.code === "RULE_BROKEN") {
      const known = await storedAsItIs(store, file, options);
      if (known !== null) return known;
    }
    return { ...report, appended, outcome: "refused", ...refusal };
  }
}

/** A log that breaks rules and is stored whole was accepted before: importing it again changes nothing. */
async function storedAsItIs(
  store: SessionStore,
  file: string,
  options: ImportOptions,
): Promise<ImportReport | null> {
  await using log = await openOf(file, options)();
  if ((await findSession(store, log.header.id)) === null) return null;
  const again = { ...options, allowFindings: true, dryRun: true };
  const report = await importFile(store, file, again);
  return report.outcome === "unchanged" ? report : null;
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

/** What is to be said of an error that is about the file or its session; null for any other. */
function refusalOf(
  error: unknown,
): Pick<ImportReport, "code" | "line" | "reason"> | null {
  if (error instanceof LogFileError) {
    const { code, line, message: reason } = error;
    return { code, line, reason };
  }
  const isAboutFile =
    error instanceof EventInvalidError ||
    error instanceof EventTypeUnknownError ||
    error instanceof EventTooLargeError ||
    error instanceof SessionDeletedError ||
    error instanceof WrongExpectedSeqError;
  return isAboutFile
    ? { code: error.code, line: null, reason: error.message }
    : null;
}

interface CheckedLog {
  readonly open: OpenLog;
  readonly header: SessionHeader;
  readonly checked: Checked;
  readonly notes: ReadingNotes;
}

function openOf(file: string, { open }: ImportOptions): OpenLog {
  return open ?? ((before) => openLogRecords(file, before));
}

/** Reads the whole file, so that nothing is stored of one that breaks off in the middle. */
async function checkLog(
  store: SessionStore,
  file: string,
  options: ImportOptions,
): Promise<CheckedLog> {
  if (options.open === undefined) await requireFile(file);
  const open = openOf(file, options);
  await using log = await open();
  options.requireHeader?.(log.header);
  const checked = await checkRecords(log, {
    knowsType: (type) => store.knowsEventType(type),
    maxEventCharacters: store.limits.maxEventCharacters,
    allowFindings: options.allowFindings === true,
    onProgress: (events) =>
      options.onProgress?.({ file, phase: "check", events }),
  });
  const notes = log.notes();
  return { open: () => open(notes), header: log.header, checked, notes };
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
