/** The superuser's random password, kept beside the cluster and readable by its owner alone. */
import { randomBytes } from "node:crypto";
import { link, open, readFile } from "node:fs/promises";
import { EmbeddedUnavailableError } from "../errors.ts";
import { hasCode } from "./error-code.ts";
import type { EmbeddedHome } from "./home.ts";
import { removeTree, scratchPath } from "./scratch.ts";

/**
 * The password of the existing cluster.
 * @throws EMBEDDED_UNAVAILABLE when its file is gone.
 */
export async function readPassword(home: EmbeddedHome): Promise<string> {
  try {
    return (await readFile(home.passwordFile, "utf8")).trim();
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new EmbeddedUnavailableError(
      `The password file ${home.passwordFile} is missing; put it back to reach the data in ${home.dataDirectory}.`,
      { cause },
    );
  }
}

/** Makes the password unless there is one. Of processes that do so at once, one wins and all agree. */
export async function ensurePassword(home: EmbeddedHome): Promise<void> {
  const scratch = scratchPath(home.passwordFile);
  const file = await open(scratch, "wx", 0o600);
  try {
    await file.writeFile(`${randomBytes(24).toString("hex")}\n`);
    if (home.account !== null) {
      await file.chown(home.account.uid, home.account.gid);
    }
    await file.sync();
    // Unlike a rename, a link never replaces the file that another process made.
    await link(scratch, home.passwordFile);
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
  } finally {
    await file.close();
    await removeTree(scratch);
  }
}
