/** Writes a file whole or not at all: beside its place first, and put there when its bytes are on the disk. */
import { randomUUID } from "node:crypto";
import { access, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FileExistsError, FileUnwritableError } from "../errors.ts";

export interface WriteOptions {
  /** Replace a file that is there already. */
  readonly overwrite: boolean;
}

/**
 * Returns how many bytes were written. Folders that are missing are made, for the owner alone, as the file is.
 * @throws FileExistsError, FileUnwritableError; whatever was there before is left as it was
 */
export async function writeFile(
  path: string,
  pieces: AsyncIterable<Buffer>,
  options: WriteOptions,
): Promise<number> {
  const partial = join(
    dirname(path),
    `.${basename(path)}.${randomUUID()}.partial`,
  );
  try {
    if (!options.overwrite) await refuseExisting(path);
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const bytes = await writeAll(partial, pieces);
    if (!options.overwrite) await refuseExisting(path);
    await rename(partial, path);
    return bytes;
  } catch (error) {
    throw toFileError(error, path);
  } finally {
    // It may be gone already, or never have been: its folder's trouble has been told.
    await rm(partial, { force: true }).catch(() => undefined);
  }
}

/** Before anything is read for it, and again at the end. */
async function refuseExisting(path: string): Promise<void> {
  const isThere = await access(path).then(
    () => true,
    () => false,
  );
  if (isThere) throw new FileExistsError({ path });
}

async function writeAll(
  path: string,
  pieces: AsyncIterable<Buffer>,
): Promise<number> {
  const file = await open(path, "wx", 0o600);
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      await file.write(piece);
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
