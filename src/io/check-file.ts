/** Checks a log file by every rule, and goes on after what it finds. */
import { LogAudit, type Finding } from "../events/rules/log-audit.ts";
import { isKnownType } from "../events/vocabulary.ts";
import { LogFileError } from "./log-file-error.ts";
import { at, openLogLines, readRecord } from "./log-lines.ts";
import type { ReadLogOptions } from "./read-log-file.ts";
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

/** Never throws for the file's own trouble: a line that can't be read at all is the last finding. */
export async function checkFile(
  file: string,
  options: ReadLogOptions,
): Promise<FileCheckReport> {
  let sessionId: string | null = null;
  let audit = new LogAudit({});
  try {
    const { header, lines } = await openLogLines(file);
    sessionId = header.id;
    audit = new LogAudit(header);
    for await (const line of lines) await checkLine(audit, line, options);
  } catch (error) {
    if (!(error instanceof LogFileError)) throw error;
    audit.note({ rule: "file", path: "", reason: error.message }, error.line);
  }
  return {
    file,
    sessionId,
    events: audit.nextSeq,
    count: audit.count,
    findings: audit.findings,
  };
}

async function checkLine(
  audit: LogAudit,
  line: Line,
  options: ReadLogOptions,
): Promise<void> {
  const record = at(line, () => readRecord(line));
  const seq = "row" in record ? record.row[0]?.seq : record.event["seq"];
  if (seq !== audit.nextSeq) audit.jumpTo(seq, line.number);
  if ("row" in record) {
    for (const event of record.row) audit.follow(event, line.number);
    return;
  }
  for (const key of ["seq", "time"]) {
    if (record.event[key] === undefined)
      audit.note(
        { rule: key, path: key, reason: "must be present" },
        line.number,
      );
  }
  audit.add(record.event, line.number);
  await checkType(audit, record.event, line, options);
}

async function checkType(
  audit: LogAudit,
  event: { readonly type?: unknown; readonly ignorable?: unknown },
  line: Line,
  { knowsType }: ReadLogOptions,
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
