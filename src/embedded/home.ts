/**
 * Which folder a cluster lives in, and as whom its server runs. A normal user's stays in
 * the wanted directory and runs as that user; root's is a longer story (root-place.ts).
 */
import { mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { EmbeddedUnavailableError } from "../errors.ts";
import { type Account, isRoot } from "./account.ts";
import { hasCode } from "./error-code.ts";
import { clusterOwner, dataDirectoryIn } from "./cluster-owner.ts";
import { placeOfRoot } from "./root-place.ts";

/** The folder of one embedded server, what is in it, and its account (null: ourselves). */
export interface EmbeddedHome {
  readonly directory: string;
  readonly dataDirectory: string;
  readonly passwordFile: string;
  readonly logFile: string;
  readonly account: Account | null;
}

/**
 * Chooses and creates the folder. A cluster that exists is found again; `onNotice` hears
 * when it is in another place than wanted.
 * @throws EMBEDDED_UNAVAILABLE when the cluster belongs to somebody we can't run as.
 */
export async function chooseHome(
  wanted: string,
  onNotice: (line: string) => void,
): Promise<EmbeddedHome> {
  const directory = await realLocation(resolve(wanted));
  const { folder, account } = isRoot()
    ? await placeOfRoot(directory, onNotice)
    : await placeOfUser(directory);
  return {
    directory: folder,
    dataDirectory: dataDirectoryIn(folder),
    passwordFile: join(folder, "password"),
    logFile: join(folder, "postgres.log"),
    account,
  };
}

async function placeOfUser(
  folder: string,
): Promise<{ folder: string; account: null }> {
  const owner = await clusterOwner(folder);
  if (owner !== null && owner.uid !== process.getuid?.()) {
    throw new EmbeddedUnavailableError(
      `The data in ${folder} belongs to ${owner.name}. Start as that user, or choose another directory.`,
    );
  }
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return { folder, account: null };
}

/** The path with its links resolved as far as it exists: one directory, one name. */
async function realLocation(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    return join(await realLocation(dirname(path)), basename(path));
  }
}
