/**
 * Where root's cluster lives. Its server runs as an unprivileged account; where that
 * account can't enter the wanted folder (a home of mode 0700), the cluster lives in
 * /var/lib/turnlog/<hash of the folder> instead. A cluster that exists decides for itself:
 * opening or closing a folder later never makes its data vanish behind a new, empty one.
 */
import { createHash } from "node:crypto";
import { chmod, chown, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { EmbeddedUnavailableError } from "../errors.ts";
import { type Account, canEnter, unprivilegedAccount } from "./account.ts";
import { clusterOwner, dataDirectoryIn } from "./cluster-owner.ts";
import { exists } from "./exists.ts";

const sharedRoot = "/var/lib/turnlog";

/** A folder that exists and that the account can enter. */
export interface Place {
  readonly folder: string;
  readonly account: Account;
}

/**
 * Chooses and creates the folder for root; `onNotice` hears when it is not the wanted one.
 * @throws EMBEDDED_UNAVAILABLE when the cluster there can't be used by its owner, or there
 *   is no unprivileged account.
 */
export async function placeOfRoot(
  wanted: string,
  onNotice: (line: string) => void,
): Promise<Place> {
  const owner = await clusterOwner(wanted);
  if (owner !== null) return placeOfOwner(wanted, owner);
  const spare = join(sharedRoot, shortHash(wanted));
  const spareOwner = await clusterOwner(spare);
  const account = spareOwner ?? (await unprivilegedAccount());
  if (spareOwner === null && (await canEnter(account, await nearest(wanted)))) {
    return createFolder(wanted, account);
  }
  onNotice(
    `The data of ${wanted} is kept in ${spare}: Postgres runs as ${account.name}, who could not enter ${wanted}.`,
  );
  const created = await mkdir(sharedRoot, { recursive: true });
  // Whatever root's umask is, the account must get through to its own folder.
  if (created !== undefined) await chmod(sharedRoot, 0o755);
  return createFolder(spare, account);
}

async function placeOfOwner(folder: string, owner: Account): Promise<Place> {
  if (owner.uid === 0) {
    throw new EmbeddedUnavailableError(
      `Postgres does not run as root, but root owns ${dataDirectoryIn(folder)}. Give it back (chown -R) to the account that made it.`,
    );
  }
  if (!(await canEnter(owner, folder))) {
    throw new EmbeddedUnavailableError(
      `The data is in ${folder}, which its owner (${owner.name}) can't enter any more. Let that account enter the folders above it.`,
    );
  }
  return { folder, account: owner };
}

async function createFolder(folder: string, account: Account): Promise<Place> {
  await mkdir(dirname(folder), { recursive: true });
  const created = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (created !== undefined) await chown(folder, account.uid, account.gid);
  return { folder, account };
}

/** The path itself where it exists, else the closest folder above it that does. */
async function nearest(path: string): Promise<string> {
  return (await exists(path)) ? path : nearest(dirname(path));
}

function shortHash(folder: string): string {
  return createHash("sha256").update(folder).digest("hex").slice(0, 16);
}
