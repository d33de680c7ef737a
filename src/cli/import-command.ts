/** `turnlog import <paths…>`: session logs, and folders of them, into the store. */
import { statSync } from "node:fs";
import { silentLogger } from "../logger.ts";
import { readFlow } from "../query/status.ts";
import { ConfigInvalidError } from "../errors.ts";
import type { SessionHeader } from "../events/header.ts";
import type { ImportReport } from "../io/import-file.ts";
import type { ForeignFormat } from "../io/foreign/convert.ts";
import { foreignLog } from "../io/foreign/foreign-log.ts";
import { LogFileError } from "../io/log-file-error.ts";
import { findLogs, requirePlace } from "../io/session-folders.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { importFiles, type ImportTask } from "./import-files.ts";
import {
  countOf,
  printableLine,
  formatCount,
  printJson,
  printTable,
  Progress,
} from "./output.ts";
import { startPipeline, untilCaughtUp } from "../runtime/pipeline.ts";

export interface ImportCommandOptions extends CommonOptions {
  readonly dryRun?: boolean;
  readonly allowFindings?: boolean;
  readonly concurrency: number;
  /** Of the files; default: our own. */
  readonly format?: ForeignFormat;
}

/** Exit code 1 when a file was refused; the others are imported. */
export async function importCommand(
  paths: readonly string[],
  options: ImportCommandOptions,
): Promise<number> {
  await using context = await openContext(options);
  const { format } = options;
  const tasks =
    format === undefined
      ? (await Promise.all(paths.map(tasksOf))).flat()
      : paths.map((file) => foreignTask(format, file));
  const { dryRun = false, allowFindings = false, concurrency } = options;
  const reports = await importFiles(context.store, tasks, {
    dryRun,
    allowFindings,
    concurrency,
  });
  const appended = reports.reduce((sum, report) => sum + report.appended, 0);
  if (options.json === true) printJson(reports);
  else {
    const hasFindings = reports.some(({ findingCount }) => findingCount > 0);
    printTable(reports.map((report) => reportRow(report, hasFindings)));
    const what = dryRun ? "would be appended" : "appended";
    const refused = reports.filter(
      ({ outcome }) => outcome === "refused",
    ).length;
    const taken = countOf(tasks.length - refused, "file");
    const rest = refused === 0 ? "" : ` ${countOf(refused, "file")} refused.`;
    console.log(`${countOf(appended, "event")} ${what} from ${taken}.${rest}`);
  }
  if (appended > 0 && !dryRun) await fillReadTables(context);
  return reports.some((report) => report.outcome === "refused") ? 1 : 0;
}

/** @throws ConfigInvalidError for a folder: only our own logs have a layout of folders */
function foreignTask(format: ForeignFormat, file: string): ImportTask {
  if (isFolder(file))
    throw new ConfigInvalidError(
      `${file} is a folder: with --format name the files themselves.`,
    );
  return { file, options: { open: foreignLog(format, file) } };
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** A file stands for itself; a folder for the logs below it, each of which must stand in its place. */
async function tasksOf(path: string): Promise<readonly ImportTask[]> {
  if (!isFolder(path)) return [{ file: path }];
  const { logs, strays, doubles, unreadable } = await findLogs(path);
  for (const stray of strays)
    console.error(
      printableLine(
        `${stray}: not where the folder layout has its logs, or a symbolic link, and passed over; name the file itself to import it`,
      ),
    );
  if (logs.length === 0 && unreadable.size === 0)
    console.error(
      printableLine(
        `${path}: no logs found; they are <project>/<session>/session.jsonl or session.jsonl.zstd`,
      ),
    );
  const refused = [...unreadable].map(([file, error]) => ({
    file,
    options: { open: () => Promise.reject(error) },
  }));
  const found = logs.map((file) => ({
    file,
    options: {
      requireHeader: (header: SessionHeader) => {
        const other = doubles.get(file);
        if (other !== undefined)
          throw new LogFileError(
            "SEVERAL_LOGS",
            null,
            `${other} is of the same session; name the file itself to import one of them`,
          );
        requirePlace(file, header);
      },
    },
  }));
  return [...found, ...refused];
}

function reportRow(report: ImportReport, hasFindings: boolean) {
  const { file, outcome, sessionId, events, appended, findingCount } = report;
  return {
    file,
    outcome,
    session: sessionId,
    events,
    appended,
    ...(hasFindings ? { findings: findingCount } : {}),
  };
}

/** Somebody has to fold what was appended: a running relay, or, on the embedded database, we ourselves. */
async function fillReadTables(context: Context): Promise<void> {
  const { db, config } = context;
  const { relay } = await readFlow(db);
  if (relay.isAlive) return;
  if (!context.isEmbedded) {
    console.error(
      "No relay is running: the read tables follow once you run: turnlog start",
    );
    return;
  }
  const progress = new Progress();
  await using _pipeline = await startPipeline({
    db,
    config,
    logger: silentLogger,
    projections: context.projections,
  });
  const isCaughtUp = await untilCaughtUp(db, (left) =>
    progress.show(() => `read tables: ${formatCount(left)} to go`),
  );
  progress.clear();
  if (!isCaughtUp)
    console.error(
      "The read tables are behind and not getting further; see: turnlog status",
    );
}
