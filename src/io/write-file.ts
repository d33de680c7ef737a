/** Writes a file whole or not at all: beside its place first, and put there when its bytes are on the disk. */
import { randomUUID } from "node:crypto";
import { mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { FileExistsError, FileUnwritableError } from "../errors.ts";

export interface WriteOptions {
  /** Replace a file that is there already. */
  readonly overwrite: boolean;
  /** Gives up between two pieces; what was written by then is removed. */
  readonly signal?: AbortSignal;
}

/**
 * Returns how many bytes were written. Folders that are missing are made, for the owner alone, as the file is. Only a
 * file is overwritten, never a device or a folder; a symbolic link stays and its target is replaced.
 * @throws FileExistsError, FileUnwritableError, and the reason of `signal`; what was there before is left as it was
 */
export async function writeFile(
  path: string,
  pieces: AsyncIterable<Buffer>,
  options: WriteOptions,
): Promise<number> {
  let partial: string | null = null;
  try {
    const target = await targetOf(path, options);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    partial = join(dirname(target), `.${randomUUID()}.partial`);
    const bytes = await writeAll(partial, pieces, options.signal);
    await targetOf(path, options);
    await rename(partial, target);
    return bytes;
  } catch (error) {
    throw toFileError(error, path);
  } finally {
    // It may be gone already, or never have been: its folder's trouble has been told.
    if (partial !== null)
      await rm(partial, { force: true }).catch(() => undefined);
  }
}

/** Where the bytes go; looked at before anything is read for it, and again at the end. */
async function targetOf(path: string, options: WriteOptions): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found === null) return path;
  if (!options.overwrite) throw new FileExistsError({ path });
  if (!found.isFile())
    throw new FileUnwritableError({ path, reason: "it is not a file" });
  return await realpath(path);
}

async function writeAll(
  path: string,
  pieces: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const file = await open(path, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      signal?.throwIfAborted();
      // Unlike write(), it goes on where the system has taken a part of the bytes only.
      await file.appendFile(piece);
      bytes += piece.length;
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return bytes;
}

/** Errors of the file system become ours; any other is of what was to be written. */
function toFileError(error: unknown, path: string): unknown {
  if (!(error instanceof Error && "syscall" in error && "code" in error))
    return error;
  return new FileUnwritableError({
    path,
    reason: String(error.code),
    cause: error,
  });
}
