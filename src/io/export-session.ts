/** Exports a stored session into a file, or into its place in the folder layout. */
import type { SessionStore } from "../session-store.ts";
import { encodeLog, type Encoding } from "./encode-log.ts";
import { exportLines, type ExportFormat } from "./export-lines.ts";
import { access, rm } from "node:fs/promises";
import { FileExistsError } from "../errors.ts";
import { logPath } from "./session-folders.ts";
import { writeFile, type WriteOptions } from "./write-file.ts";

export interface ExportOptions extends ExportFormat, Encoding, WriteOptions {}

export interface ExportReport {
  readonly sessionId: string;
  readonly file: string;
  readonly bytes: number;
}

/** Bytes of the session's log; the same session always gives the same ones. */
export function exportBytes(
  store: SessionStore,
  sessionId: string,
  options: ExportFormat & Encoding,
): AsyncIterable<Buffer> {
  return encodeLog(exportLines(store, sessionId, options), options);
}

/** @throws FileExistsError, FileUnwritableError, SessionNotFoundError, SessionDeletedError */
export async function exportToFile(
  store: SessionStore,
  sessionId: string,
  file: string,
  options: ExportOptions,
): Promise<ExportReport> {
  const pieces = exportBytes(store, sessionId, options);
  return { sessionId, file, bytes: await writeFile(file, pieces, options) };
}

/**
 * The same into `<root>/<project>/<session>/session.jsonl`, with `.zstd` when compressed. A session has one log in a
 * folder: the other of the two is in the way, and is removed when files may be overwritten.
 */
export async function exportToFolder(
  store: SessionStore,
  sessionId: string,
  root: string,
  options: ExportOptions,
): Promise<ExportReport> {
  const { header } = await store.session(sessionId);
  const plain = logPath(root, header, "session.jsonl");
  const compressed = logPath(root, header, "session.jsonl.zstd");
  const [file, other] = options.zstd
    ? [compressed, plain]
    : [plain, compressed];
  if (!options.overwrite && (await isThere(other)))
    throw new FileExistsError({ path: other });
  const report = await exportToFile(store, sessionId, file, options);
  if (options.overwrite) await rm(other, { force: true });
  return report;
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
