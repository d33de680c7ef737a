/** `turnlog export [sessions…]`: stored sessions as JSONL logs, into a file, a folder, or to stdout. */
import { once } from "node:events";
import { ConfigInvalidError, TurnlogError } from "../errors.ts";
import {
  exportBytes,
  exportToFile,
  exportToFolder,
  type ExportOptions,
  type ExportReport,
} from "../io/export-session.ts";
import type { SessionStore } from "../session-store.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { formatCount, printJson, printTable, Progress } from "./output.ts";

export interface ExportCommandOptions extends CommonOptions {
  readonly all?: boolean;
  readonly file?: string;
  readonly folder?: string;
  readonly zstd?: boolean;
  readonly unpacked?: boolean;
  readonly force?: boolean;
}

/** Exit code 1 when a session could not be exported; the others are. */
export async function exportCommand(
  sessions: readonly string[],
  options: ExportCommandOptions,
): Promise<number> {
  requireTarget(sessions, options);
  await using context = await openContext(options);
  const { store } = context;
  const format = {
    packed: options.unpacked !== true,
    zstd: options.zstd === true,
    overwrite: options.force === true,
  };
  const [only = ""] = sessions;
  if (options.folder !== undefined)
    return await exportMany(
      store,
      options.all === true ? store.sessionIds() : sessions,
      { ...options, folder: options.folder },
      format,
    );
  if (options.file === undefined) {
    await writeOut(exportBytes(store, only, format));
    return 0;
  }
  const report = await exportToFile(store, only, options.file, format);
  printReports([report], options);
  return 0;
}

function refuse(message: string): never {
  throw new ConfigInvalidError(message);
}

/** @throws ConfigInvalidError when it is not clear what goes where */
function requireTarget(
  sessions: readonly string[],
  { all = false, file, folder, zstd = false }: ExportCommandOptions,
): void {
  if (all === sessions.length > 0)
    refuse("Name the sessions to export, or give --all.");
  if (file !== undefined && folder !== undefined)
    refuse("Give --file or --folder, not both.");
  if (folder === undefined && (all || sessions.length > 1))
    refuse("Several sessions need a --folder to go to.");
  if (
    folder === undefined &&
    file === undefined &&
    zstd &&
    process.stdout.isTTY
  )
    refuse("Compressed bytes are not for a terminal: give --file, or a pipe.");
}

async function exportMany(
  store: SessionStore,
  sessions: AsyncIterable<string> | Iterable<string>,
  options: ExportCommandOptions & { readonly folder: string },
  format: ExportOptions,
): Promise<number> {
  const reports: ExportReport[] = [];
  const progress = new Progress();
  let failed = 0;
  for await (const sessionId of sessions) {
    progress.show(
      () => `${formatCount(reports.length)} exported  ${sessionId}`,
    );
    try {
      reports.push(
        await exportToFolder(store, sessionId, options.folder, format),
      );
    } catch (error) {
      if (!(error instanceof TurnlogError) || error.retryable) throw error;
      progress.clear();
      console.error(`${sessionId}: not exported: ${error.message}`);
      failed += 1;
    }
  }
  progress.clear();
  printReports(reports, options);
  return failed === 0 ? 0 : 1;
}

function printReports(
  reports: readonly ExportReport[],
  options: CommonOptions,
): void {
  if (options.json === true) printJson(reports);
  else
    printTable(
      reports.map(({ sessionId, file, bytes }) => ({
        session: sessionId,
        file,
        bytes,
      })),
    );
}

/** As fast as the reader takes it; one that has seen enough ends it. */
async function writeOut(pieces: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (process.stdout.errored !== null) return;
      if (!process.stdout.write(piece)) await once(process.stdout, "drain");
    }
  } catch (error) {
    if (process.stdout.errored !== error) throw error;
  }
}
