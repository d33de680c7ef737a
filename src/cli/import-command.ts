/** `turnlog import <paths…>`: session logs, and folders of them, into the store. */
import { statSync } from "node:fs";
import { silentLogger } from "../logger.ts";
import { readFlow } from "../query/status.ts";
import type { ImportReport } from "../io/import-file.ts";
import type { ForeignFormat } from "../io/foreign/convert.ts";
import { foreignLog } from "../io/foreign/foreign-log.ts";
import { LogFileError } from "../io/log-file-error.ts";
import { findLogs, requirePlace } from "../io/session-folders.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { importFiles, type ImportTask } from "./import-files.ts";
import {
  countOf,
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
      : paths.map((file) => ({
          file,
          options: { open: foreignLog(format, file) },
        }));
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
    console.log(
      `${countOf(appended, "event")} ${what} from ${countOf(tasks.length, "file")}.`,
    );
  }
  if (appended > 0 && !dryRun) await fillReadTables(context);
  return reports.some((report) => report.outcome === "refused") ? 1 : 0;
}

/** A file stands for itself; a folder for the logs below it, each of which must stand in its place. */
async function tasksOf(path: string): Promise<readonly ImportTask[]> {
  const isFolder =
    statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) return [{ file: path }];
  const { logs, strays, doubles } = await findLogs(path);
  for (const stray of strays)
    console.error(
      `${stray}: not where the folder layout has its logs, and passed over; name the file itself to import it`,
    );
  if (logs.length === 0)
    console.error(
      `${path}: no logs found; they are <project>/<session>/session.jsonl or session.jsonl.zstd`,
    );
  return logs.map((file) => ({
    file,
    options: {
      requireHeader: (header) => {
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
