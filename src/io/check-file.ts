/** Checks a log file by every rule, and goes on after what it finds. */
import { LogAudit, type Finding } from "../events/rules/log-audit.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { isKnownType } from "../events/vocabulary.ts";
import { LegacyEvents } from "./legacy-events.ts";
import { LogFileError } from "./log-file-error.ts";
import { openLogLines, parseRecord } from "./log-lines.ts";
import type { LogRecord } from "../events/log-record.ts";
import { membersOf } from "../events/expand-runs.ts";
import type { JsonObject } from "../events/json.ts";
import type { Line } from "./read-lines.ts";

export interface FileCheckReport {
  readonly file: string;
  /** Null when the header could not be read. */
  readonly sessionId: string | null;
  readonly events: number;
  /** All findings; `findings` holds the first thousand. */
  readonly count: number;
  readonly findings: readonly Finding[];
}

/** What checking a file needs from outside. */
export interface FileCheckOptions {
  /** True for a type that needs no mark of being ignorable. */
  readonly knowsType: (type: string) => Promise<boolean>;
}

/** Never throws for the file's own trouble: a line that can't be read is a finding, and the next one goes on. */
export async function checkFile(
  file: string,
  options: FileCheckOptions,
): Promise<FileCheckReport> {
  let sessionId: string | null = null;
  let audit = new LogAudit({});
  try {
    const { header, lines } = await openLogLines(file);
    sessionId = header.id;
    audit = new LogAudit(header);
    const legacy = new LegacyEvents(header.id, { dropsTriggers: false });
    for await (const line of lines) {
      const record = readLine(audit, line);
      if (record !== null)
        await follow({ audit, legacy, options }, line, record);
    }
  } catch (error) {
    if (!(error instanceof LogFileError)) throw error;
    note(audit, error);
  }
  return {
    file,
    sessionId,
    events: audit.nextSeq,
    count: audit.count,
    findings: audit.findings,
  };
}

function note(audit: LogAudit, { message, line }: LogFileError): void {
  audit.note({ rule: "file", path: "", reason: message }, line);
}

/** Null for a line that is no record. */
function readLine(audit: LogAudit, line: Line): LogRecord | null {
  try {
    return parseRecord(line);
  } catch (error) {
    if (!(error instanceof LogFileError)) throw error;
    note(audit, error);
    return null;
  }
}

interface Check {
  readonly audit: LogAudit;
  readonly legacy: LegacyEvents;
  readonly options: FileCheckOptions;
}

async function follow(
  { audit, legacy, options }: Check,
  line: Line,
  record: LogRecord,
): Promise<void> {
  const seq = "run" in record ? record.run.seq0 : record.event["seq"];
  if (seq !== audit.nextSeq) audit.jumpTo(seq, line.number);
  if ("run" in record) {
    for (const event of membersOf(record.run)) audit.follow(event, line.number);
    return;
  }
  for (const key of ["seq", "time"]) {
    if (record.event[key] === undefined)
      audit.note(
        { rule: key, path: key, reason: "must be present" },
        line.number,
      );
  }
  const event = upgraded(audit, legacy, line, record.event);
  audit.add(event, line.number);
  await checkType(audit, event, line, options);
}

/** A half-old shape is a finding, and is looked at as it is. */
function upgraded(
  audit: LogAudit,
  legacy: LegacyEvents,
  line: Line,
  event: JsonObject,
): JsonObject {
  try {
    return legacy.upgrade(event, audit.nextSeq);
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    audit.note(error, line.number);
    return event;
  }
}

async function checkType(
  audit: LogAudit,
  event: { readonly type?: unknown; readonly ignorable?: unknown },
  line: Line,
  { knowsType }: FileCheckOptions,
): Promise<void> {
  const { type, ignorable } = event;
  if (
    typeof type !== "string" ||
    ignorable === true ||
    isKnownType(type) ||
    (await knowsType(type))
  )
    return;
  audit.note(
    {
      rule: "unknown-type",
      path: "type",
      reason: `is ${type}, which is neither known nor ignorable`,
    },
    line.number,
  );
}
