/** `turnlog export [sessions…]`: stored sessions as JSONL logs, into a file, a folder, or to stdout. */
import { createWriteStream, fstatSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import {
  ConfigInvalidError,
  FileUnwritableError,
  TurnlogError,
} from "../errors.ts";
import {
  exportBytes,
  exportToFile,
  exportToFolder,
  type ExportOptions,
  type ExportReport,
} from "../io/export-session.ts";
import type { SessionStore } from "../session-store.ts";
import { openContext, type CommonOptions } from "./context.ts";
import { abortOnSignal } from "../runtime/signals.ts";
import {
  formatCount,
  printableLine,
  printJson,
  printTable,
  Progress,
} from "./output.ts";

export interface ExportCommandOptions extends CommonOptions {
  readonly all?: boolean;
  readonly file?: string;
  readonly folder?: string;
  readonly zstd?: boolean;
  readonly unpacked?: boolean;
  readonly force?: boolean;
}

/** Exit code 1 when a session could not be exported; the others are. A signal leaves no half of a file. */
export async function exportCommand(
  sessions: readonly string[],
  { file: path, ...rest }: ExportCommandOptions,
): Promise<number> {
  const options: ExportCommandOptions =
    path === "-" || path === undefined ? rest : { ...rest, file: path };
  requireTarget(sessions, options);
  const signal = abortOnSignal();
  await using context = await openContext(options);
  const { store } = context;
  const format = {
    packed: options.unpacked !== true,
    zstd: options.zstd === true,
    overwrite: options.force === true,
    signal,
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
    await writeOut(exportBytes(store, only, format), signal);
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
      console.error(
        printableLine(`${sessionId}: not exported: ${error.message}`),
      );
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

const STDOUT = 1;

/**
 * As fast as the reader takes it; one that has seen enough ends it. A file behind stdout is written by a stream that
 * goes on where the system took a part of the bytes only; the one of the process does not.
 * @throws FileUnwritableError
 */
async function writeOut(
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<void> {
  const target = fstatSync(STDOUT).isFile()
    ? createWriteStream("", { fd: STDOUT, autoClose: false })
    : process.stdout;
  try {
    await pipeline(pieces, target, { end: false, signal });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EPIPE") return;
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw new FileUnwritableError({
      path: "The output",
      reason: String(code),
      cause: error,
    });
  }
}
