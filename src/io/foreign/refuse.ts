/** How a transcript is refused. */
import { LogFileError } from "../log-file-error.ts";

/** @throws LogFileError always */
export function refuse(
  line: number | null,
  reason: string,
  cause?: unknown,
): never {
  throw new LogFileError(
    "FORMAT_UNSUPPORTED",
    line,
    reason,
    cause === undefined ? undefined : { cause },
  );
}
