/** `turnlog import <files…>`: session logs into the store. */
import { silentLogger } from "../logger.ts";
import { readStatus } from "../query/status.ts";
import { openContext, type CommonOptions, type Context } from "./context.ts";
import { importFiles } from "./import-files.ts";
import { formatCount, printJson, printTable, Progress } from "./output.ts";
import { startPipeline, untilCaughtUp } from "../runtime/pipeline.ts";

/** Exit code 1 when a file was refused; the others are imported. */
export async function importCommand(
  files: readonly string[],
  options: CommonOptions,
): Promise<number> {
  await using context = await openContext(options);
  const reports = await importFiles(context.store, files);
  const appended = reports.reduce((sum, report) => sum + report.appended, 0);
  if (options.json === true) printJson(reports);
  else {
    printTable(
      reports.map(({ file, outcome, sessionId, events, appended: added }) => ({
        file,
        outcome,
        session: sessionId,
        events,
        appended: added,
      })),
    );
    console.log(
      `${formatCount(appended)} events appended from ${files.length} files.`,
    );
  }
  if (appended > 0) await fillReadTables(context);
  return reports.some((report) => report.outcome === "refused") ? 1 : 0;
}

/** Somebody has to fold what was appended: a running relay, or, on the embedded database, we ourselves. */
async function fillReadTables(context: Context): Promise<void> {
  const { db, config } = context;
  const { relay } = await readStatus(db);
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
