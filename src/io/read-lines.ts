/** Reads a text file line by line in constant memory, strict about its bytes. */
import { createReadStream } from "node:fs";
import { TextDecoder } from "node:util";
import { LogFileError } from "./log-file-error.ts";

const LINE_FEED = 10;
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/**
 * Yields the lines of a file. Only a line that ends in a line feed is complete.
 * @throws LogFileError for bytes that are no UTF-8, a last line that is cut off, and compressed files.
 */
export async function* readLines(file: string): AsyncGenerator<Line> {
  try {
    yield* splitLines(file);
  } catch (error) {
    if (error instanceof Error && "syscall" in error && "code" in error)
      throw new LogFileError(
        null,
        `the file can't be read (${String(error.code)})`,
        { cause: error },
      );
    throw error;
  }
}

async function* splitLines(file: string): AsyncGenerator<Line> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let rest: Buffer[] = [];
  let number = 0;
  const stream: AsyncIterable<Buffer> = createReadStream(file, {
    highWaterMark: 256 * 1024,
  });
  for await (const chunk of stream) {
    if (
      number === 0 &&
      rest.length === 0 &&
      chunk.subarray(0, 4).equals(ZSTD_MAGIC)
    )
      throw new LogFileError(
        1,
        "the file is compressed with zstd; decompress it first (zstd -d)",
      );
    let start = 0;
    for (
      let end = chunk.indexOf(LINE_FEED);
      end !== -1;
      end = chunk.indexOf(LINE_FEED, start)
    ) {
      number += 1;
      const bytes = Buffer.concat([...rest, chunk.subarray(start, end)]);
      rest = [];
      start = end + 1;
      yield { number, text: decode(decoder, bytes, number) };
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0)
    throw new LogFileError(
      number + 1,
      "the line is cut off: there is no line feed at its end",
    );
}

function decode(decoder: TextDecoder, bytes: Buffer, line: number): string {
  try {
    return decoder.decode(bytes);
  } catch {
    // The decoder says no more than that the bytes are no UTF-8.
    throw new LogFileError(line, "the line is not valid UTF-8");
  }
}
