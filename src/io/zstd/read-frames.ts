/** Decodes the frames of a compressed log as a stream, each against its checksum; a last one as far as it goes. */
import { Decompress } from "fzstd";
import type { FileHandle } from "node:fs/promises";
import xxhash, { type XXHash } from "xxhash-wasm";
import { LogFileError } from "../log-file-error.ts";
import type { Piece } from "../read-pieces.ts";
import { CHECKSUM_BYTES, scanFrames, type Frame } from "./scan-frames.ts";

/** Compressed bytes read at a time. */
const READ_BYTES = 64 * 1024;
/** Compressed bytes decoded at a time: few, since each four of them may stand for 128 KiB. */
const STEP_BYTES = 4 * 1024;
/** Plain bytes of a frame that wait for its checksum, so that damage is not taken for what the log says. */
const HELD_BYTES = 16 * 1024 * 1024;
const LINE_FEED = 10;

/** @throws LogFileError for a complete frame that is damaged or ends inside a line */
export async function* readFrames(file: FileHandle): AsyncGenerator<Piece> {
  const { frames, tornStart } = await scanFrames(file);
  const hashes = await xxhash();
  for (const frame of frames) yield* readFrame(file, frame, hashes.create64());
  if (tornStart !== null) yield* readTornFrame(file, tornStart);
}

async function* readFrame(
  file: FileHandle,
  frame: Frame,
  hash: XXHash<bigint>,
): AsyncGenerator<Piece> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let lastByte = LINE_FEED;
  const body = { start: frame.start, end: frame.end - CHECKSUM_BYTES };
  for await (const bytes of decode(file, frame)) {
    hash.update(bytes);
    lastByte = bytes.at(-1) ?? lastByte;
    held.push(bytes);
    heldBytes += bytes.length;
    if (heldBytes < HELD_BYTES) continue;
    yield* held.map(sealed);
    held = [];
  }
  const stored = await readAt(file, body.end, CHECKSUM_BYTES);
  if (Number(hash.digest() & 0xffff_ffffn) !== stored.readUInt32LE(0))
    throw damaged(frame, "does not have its checksum");
  if (lastByte !== LINE_FEED) throw damaged(frame, "ends inside a line");
  yield* held.map(sealed);
}

function sealed(bytes: Buffer): Piece {
  return { bytes, isSealed: true };
}

/** What can't be decoded any more was never acknowledged to anybody, so it is no error; that it is there is told. */
async function* readTornFrame(
  file: FileHandle,
  start: number,
): AsyncGenerator<Piece> {
  const { size } = await file.stat();
  try {
    for await (const bytes of decode(file, { start, end: size }))
      yield { bytes, isSealed: false };
  } catch (error) {
    if (!(error instanceof LogFileError)) throw error;
  }
  yield { bytes: Buffer.alloc(0), isSealed: false, isCutOff: true };
}

async function* decode(file: FileHandle, frame: Frame): AsyncGenerator<Buffer> {
  let decoded: Uint8Array[] = [];
  const decoder = new Decompress((bytes) => decoded.push(bytes));
  for (let at = frame.start; at < frame.end; at += READ_BYTES) {
    const length = Math.min(READ_BYTES, frame.end - at);
    const bytes = await readAt(file, at, length);
    for (let step = 0; step < bytes.length; step += STEP_BYTES) {
      push(decoder, bytes.subarray(step, step + STEP_BYTES), frame);
      for (const { buffer, byteOffset, byteLength } of decoded)
        yield Buffer.from(buffer, byteOffset, byteLength);
      decoded = [];
    }
  }
}

/** The decoder reports damage as errors of its own. */
function push(decoder: Decompress, bytes: Buffer, frame: Frame): void {
  try {
    decoder.push(bytes);
  } catch (cause) {
    throw damaged(frame, "can't be decoded", { cause });
  }
}

async function readAt(
  file: FileHandle,
  position: number,
  length: number,
): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(length),
    0,
    length,
    position,
  );
  return buffer.subarray(0, bytesRead);
}

function damaged(
  frame: Frame,
  reason: string,
  options?: { cause: unknown },
): LogFileError {
  return new LogFileError(
    "LOG_CORRUPT",
    null,
    `the compressed frame from byte ${frame.start} to ${frame.end} ${reason}`,
    options,
  );
}
