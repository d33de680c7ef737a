/**
 * Finds the frames of a Zstandard file by their headers alone, without decoding them (RFC 8878, section 3.1.1), so that
 * a frame that breaks off at the end is known before its content is read.
 */
import type { FileHandle } from "node:fs/promises";
import { LogFileError } from "../log-file-error.ts";

/** Bytes of the file, `end` not included. */
export interface Frame {
  readonly start: number;
  readonly end: number;
}

export interface FrameScan {
  /** Complete frames, in order. */
  readonly frames: readonly Frame[];
  /** Where a last frame begins that the file breaks off in; null when the last one is complete. */
  readonly tornStart: number | null;
}

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const RESERVED_BITS = 0b0001_1000;
const DICTIONARY_BITS = 0b0000_0011;
/** Bit of the descriptor: a checksum follows the blocks. */
export const CHECKSUM_BIT = 0b0000_0100;
const SINGLE_SEGMENT_BIT = 0b0010_0000;
const RLE_BLOCK = 1;
const RESERVED_BLOCK = 3;
/** Bytes of the checksum behind the blocks. */
export const CHECKSUM_BYTES = 4;

/** True for the first bytes of a Zstandard file, a skippable frame included. */
export function isZstd(head: Buffer): boolean {
  if (head.length < 4) return false;
  const magic = head.readUInt32LE(0);
  return magic === MAGIC || isSkippable(magic);
}

/**
 * Walks over the headers of all frames.
 * @throws LogFileError for bytes that are no frame, and for frames without checksum or with a dictionary
 */
export async function scanFrames(file: FileHandle): Promise<FrameScan> {
  const frames: Frame[] = [];
  const { size } = await file.stat();
  const bytes = new FileBytes(file);
  let start = 0;
  while (start < size) {
    const end = await endOfFrame(bytes, start);
    if (end === null || end > size) return { frames, tornStart: start };
    frames.push({ start, end });
    start = end;
  }
  return { frames, tornStart: null };
}

/** Null where the file ends inside of a header. */
async function endOfFrame(
  bytes: FileBytes,
  start: number,
): Promise<number | null> {
  const head = await bytes.at(start, 5);
  if (head === null) return null;
  const descriptor = readDescriptor(head, start);
  let at = start + 5 + headerBytes(descriptor);
  for (;;) {
    const block = await bytes.at(at, 3);
    if (block === null) return null;
    const header = block.readUIntLE(0, 3);
    const type = (header >>> 1) & 3;
    if (type === RESERVED_BLOCK)
      throw damaged(at, "there is a block of a reserved type");
    at += 3 + (type === RLE_BLOCK ? 1 : header >>> 3);
    if ((header & 1) === 1) return at + CHECKSUM_BYTES;
  }
}

function readDescriptor(head: Buffer, start: number): number {
  const magic = head.readUInt32LE(0);
  const descriptor = head.readUInt8(4);
  if (isSkippable(magic))
    throw damaged(start, "there is a skippable frame, which no log has");
  if (magic !== MAGIC) throw damaged(start, "there is no Zstandard frame");
  if ((descriptor & RESERVED_BITS) !== 0)
    throw damaged(start, "the frame's header has a reserved bit set");
  if ((descriptor & DICTIONARY_BITS) !== 0)
    throw damaged(start, "the frame needs a dictionary, which no log has");
  if ((descriptor & CHECKSUM_BIT) === 0)
    throw damaged(
      start,
      "the frame has no checksum; compress the file again with one (zstd does it by default)",
    );
  return descriptor;
}

/** Bytes between the descriptor and the first block: the window and the size of the content, where they are given. */
function headerBytes(descriptor: number): number {
  const isSingleSegment = (descriptor & SINGLE_SEGMENT_BIT) !== 0;
  const sizeFlag = descriptor >>> 6;
  const sizeBytes = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 2 ** sizeFlag;
  return (isSingleSegment ? 0 : 1) + sizeBytes;
}

function isSkippable(magic: number): boolean {
  return (magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC;
}

function damaged(at: number, reason: string): LogFileError {
  return new LogFileError(
    "LOG_CORRUPT",
    null,
    `at byte ${at} of the compressed file ${reason}`,
  );
}

const WINDOW_BYTES = 256 * 1024;

/** A few bytes anywhere in a file, read through a window that mostly moves forward. */
class FileBytes {
  readonly #file: FileHandle;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #start = 0;
  #length = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Null where the file ends before. */
  async at(position: number, length: number): Promise<Buffer | null> {
    if (
      position < this.#start ||
      position + length > this.#start + this.#length
    )
      await this.#move(position);
    const from = position - this.#start;
    return from + length > this.#length
      ? null
      : this.#window.subarray(from, from + length);
  }

  async #move(position: number): Promise<void> {
    const { bytesRead } = await this.#file.read(
      this.#window,
      0,
      WINDOW_BYTES,
      position,
    );
    this.#start = position;
    this.#length = bytesRead;
  }
}
