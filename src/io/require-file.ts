/** Says so at once when a path is no file that can be read: a pipe, say, would be waited for. */
import { stat } from "node:fs/promises";
import { LogFileError } from "./log-file-error.ts";

/** @throws LogFileError */
export async function requireFile(file: string): Promise<void> {
  const found = await stat(file).catch((cause: unknown) => {
    throw new LogFileError(
      "FILE_UNREADABLE",
      null,
      "there is no such file, or it can't be read",
      { cause },
    );
  });
  if (!found.isFile())
    throw new LogFileError("FILE_UNREADABLE", null, "it is not a file");
}
