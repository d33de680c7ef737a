/** `turnlog check <id|file>`: every rule over a stored log or a file. */
import { statSync } from "node:fs";
import { readConfig } from "../config.ts";
import { ConfigInvalidError } from "../errors.ts";
import type { Finding } from "../events/rules/log-audit.ts";
import { checkFile, type FileCheckReport } from "../io/check-file.ts";
import type { CheckReport } from "../log/check-session.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { countOf, printJson } from "./output.ts";

export interface CheckOptions extends CommonOptions {
  /** Replace the state beside a stored log where it is not the one the log leaves. */
  readonly fixState?: boolean;
}

type Report = FileCheckReport | CheckReport;

/** Exit code 1 when something was found that is neither mended nor was accepted when the log was imported. */
export async function checkCommand(
  target: string,
  options: CheckOptions,
): Promise<number> {
  const report = looksLikeFile(target)
    ? await checkLogFile(target, options)
    : await checkStored(target, options);
  const accepted = "accepted" in report ? report.accepted : 0;
  const isStateFixed = "isStateFixed" in report && report.isStateFixed;
  if (options.json === true) printJson(report);
  else {
    report.findings.forEach((finding, at) =>
      console.log(
        `${findingText(finding)}${at < accepted ? " (accepted at import)" : ""}`,
      ),
    );
    const fixed = isStateFixed ? " The state has been replaced." : "";
    console.log(
      `${countOf(report.events, "event")}, ${countOf(report.count, "finding")}.${fixed}`,
    );
  }
  return report.count - accepted - (isStateFixed ? 1 : 0) === 0 ? 0 : 1;
}

/** @throws ConfigInvalidError for a folder */
function looksLikeFile(target: string): boolean {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found?.isDirectory() === true)
    throw new ConfigInvalidError(
      `${target} is a folder: name a log file in it, or the id of a stored session. turnlog import --dry-run checks all logs of a folder.`,
    );
  return (
    found?.isFile() === true ||
    /\.jsonl(\.zstd?)?$/.test(target) ||
    /[/\\]/.test(target)
  );
}

/** A file needs no database, but one that is given knows further event types. */
async function checkLogFile(
  file: string,
  options: CheckOptions,
): Promise<Report> {
  if (options.fixState === true)
    throw new ConfigInvalidError(
      "--fix-state is for stored sessions; a file has no state.",
    );
  if (readConfig({ databaseUrl: options.databaseUrl }).databaseUrl === null)
    return checkFile(file, { knowsType: () => Promise.resolve(false) });
  await using context = await openContext(options);
  return await checkFile(file, {
    knowsType: (type) => context.store.knowsEventType(type),
  });
}

async function checkStored(
  sessionId: string,
  options: CheckOptions,
): Promise<Report> {
  await using context = await openContext(options);
  return await context.store.check(sessionId, {
    fixState: options.fixState === true,
  });
}

function findingText(finding: Finding): string {
  const where = finding.line === null ? "" : `line ${finding.line}, `;
  const event =
    finding.seq === null ? "" : `seq ${finding.seq} ${finding.type ?? ""}: `;
  const path = finding.path === "" ? "" : `${finding.path} `;
  return `${where}${event}${path}${finding.reason} [${finding.rule}]`;
}
