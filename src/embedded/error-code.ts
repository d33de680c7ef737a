/** Errors of the file system and of Postgres, told apart by their code. */

/** True when the error carries one of these codes (`ENOENT`, `EEXIST`, …, or a SQLSTATE). */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    codes.some((code) => code === error.code)
  );
}
