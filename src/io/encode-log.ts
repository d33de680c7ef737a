/** Turns the lines of a log into the bytes of its file. */
import { compressFrame } from "./zstd/compress-frame.ts";

/** Plain bytes of a compressed frame, and of a write, at least; a frame ends with a line. */
const BLOCK_CHARACTERS = 512 * 1024;

export interface Encoding {
  /** Zstandard: a frame for the header, then frames of whole lines. */
  readonly zstd: boolean;
}

/** Yields the bytes in pieces of bounded size. The same lines give the same bytes. */
export async function* encodeLog(
  lines: AsyncIterable<string>,
  { zstd }: Encoding,
): AsyncGenerator<Buffer> {
  for await (const block of blocksOf(lines)) {
    const bytes = Buffer.from(block, "utf8");
    yield zstd ? await compressFrame(bytes) : bytes;
  }
}

/** The header by itself, then as many lines as make a block. */
async function* blocksOf(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let block: string[] = [];
  let characters = 0;
  let isHeader = true;
  for await (const line of lines) {
    block.push(line);
    characters += line.length;
    if (!isHeader && characters < BLOCK_CHARACTERS) continue;
    yield block.join("");
    block = [];
    characters = 0;
    isHeader = false;
  }
  if (block.length > 0) yield block.join("");
}
