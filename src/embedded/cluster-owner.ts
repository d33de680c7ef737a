/** Where the cluster lies in an embedded server's folder, and whose it is. */
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { Account } from "./account.ts";
import { hasCode } from "./error-code.ts";

/** The data directory of the cluster in the folder. */
export function dataDirectoryIn(folder: string): string {
  return join(folder, "postgres");
}

/** The owner of the folder's cluster; null when there is no cluster, and on Windows, which has no numeric owners. */
export async function clusterOwner(folder: string): Promise<Account | null> {
  if (process.getuid === undefined) return null;
  try {
    const { uid, gid } = await stat(dataDirectoryIn(folder));
    return { name: `user ${uid}`, uid, gid };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return null;
    throw error;
  }
}
