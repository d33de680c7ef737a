/** Whether a file or folder is there. */
import { stat } from "node:fs/promises";
import { hasCode } from "./error-code.ts";

/** True when the path exists; links are followed. */
export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}
