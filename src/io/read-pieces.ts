/** The plain bytes of a log file, compressed or not, as they are read. */
import { open, type FileHandle } from "node:fs/promises";
import { LogFileError } from "./log-file-error.ts";
import { isZstd } from "./zstd/scan-frames.ts";
import { readFrames } from "./zstd/read-frames.ts";

export interface Piece {
  readonly bytes: Buffer;
  /** True in a complete compressed frame: it was written whole, so whatever is wrong in it is damage. */
  readonly isSealed: boolean;
  /** The file breaks off behind these bytes, in the middle of a compressed frame. */
  readonly isCutOff?: boolean;
}

const PIECE_BYTES = 256 * 1024;

/** @throws LogFileError for a file that can't be read, and for damaged frames */
export async function* readPieces(path: string): AsyncGenerator<Piece> {
  let file: FileHandle | null = null;
  try {
    file = await open(path);
    const head = await file.read(Buffer.alloc(4), 0, 4, 0);
    const isCompressed = head.bytesRead === 4 && isZstd(head.buffer);
    yield* isCompressed ? readFrames(file) : readPlain(file);
  } catch (error) {
    if (error instanceof Error && "syscall" in error && "code" in error)
      throw new LogFileError(
        "FILE_UNREADABLE",
        null,
        `the file can't be read (${String(error.code)})`,
        { cause: error },
      );
    throw error;
  } finally {
    await file?.close();
  }
}

async function* readPlain(file: FileHandle): AsyncGenerator<Piece> {
  for (let position = 0; ;) {
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(PIECE_BYTES),
      0,
      PIECE_BYTES,
      position,
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    yield { bytes: buffer.subarray(0, bytesRead), isSealed: false };
  }
}
