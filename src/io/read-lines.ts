/** Reads a text file line by line in constant memory, and says of each line whether it is whole. */
import { isUtf8 } from "node:buffer";
import { LogFileError } from "./log-file-error.ts";
import { readPieces } from "./read-pieces.ts";

const LINE_FEED = 10;
/** No event is as long: a line is held whole, so there is an end to what is held. */
const MAX_LINE_BYTES = 256 * 1024 * 1024;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Empty when the bytes are no text. */
  readonly text: string;
  /** What keeps the line from being read; null when it is whole. Only a line that ends in a line feed is. */
  readonly fault: "is cut off" | "is not valid UTF-8" | null;
  /** See Piece. */
  readonly isSealed: boolean;
}

/**
 * Yields the lines of a file, compressed or not.
 * @throws LogFileError for a file that can't be read or decoded, or with a line of more than 256 MiB
 */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let number = 0;
  let isCut = false;
  for await (const { bytes, isSealed, isCutOff } of readPieces(path)) {
    let start = 0;
    isCut ||= isCutOff === true;
    for (
      let end = bytes.indexOf(LINE_FEED);
      end !== -1;
      end = bytes.indexOf(LINE_FEED, start)
    ) {
      number += 1;
      const last = bytes.subarray(start, end);
      const line = rest.length === 0 ? last : Buffer.concat([...rest, last]);
      rest = [];
      restBytes = 0;
      start = end + 1;
      yield { number, ...decode(line), isSealed };
    }
    if (start === bytes.length) continue;
    rest.push(bytes.subarray(start));
    restBytes += bytes.length - start;
    if (restBytes > MAX_LINE_BYTES) throw tooLong(number + 1);
  }
  if (isCut || rest.length > 0)
    yield {
      number: number + 1,
      text: "",
      fault: "is cut off",
      isSealed: false,
    };
}

function tooLong(line: number): LogFileError {
  return new LogFileError(
    "EVENT_TOO_LARGE",
    line,
    `the line has more than ${MAX_LINE_BYTES} bytes, which no event has`,
  );
}

function decode(bytes: Buffer): Pick<Line, "text" | "fault"> {
  return isUtf8(bytes)
    ? { text: bytes.toString("utf8"), fault: null }
    : { text: "", fault: "is not valid UTF-8" };
}
