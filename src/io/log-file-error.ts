/** A log file can't be taken: the first line that is wrong, why, and what kind of wrong it is. */
import type { ErrorCode } from "../errors.ts";

/** Stable name of the reason why a file is not taken. */
export type RefusalCode =
  | ErrorCode
  | "FILE_CHANGED"
  | "FILE_UNREADABLE"
  | "RULE_BROKEN"
  | "SEVERAL_LOGS"
  | "WRONG_FOLDER";

export class LogFileError extends Error {
  /** From 1, the header included; null when it is about the file as a whole. */
  readonly line: number | null;
  readonly code: RefusalCode;
  constructor(
    code: RefusalCode,
    line: number | null,
    reason: string,
    options?: { cause: unknown },
  ) {
    super(reason, options);
    this.code = code;
    this.line = line;
  }
}
