/** A log file can't be taken: the first line that is wrong, and why. */

export class LogFileError extends Error {
  /** From 1, the header included; null when it is about the file as a whole. */
  readonly line: number | null;
  constructor(
    line: number | null,
    reason: string,
    options?: { cause: unknown },
  ) {
    super(reason, options);
    this.line = line;
  }
}
