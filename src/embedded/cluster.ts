/**
 * Makes the cluster. initdb works in a scratch folder that is renamed when it is complete,
 * so a killed start never leaves half a cluster behind. Several first starts may each run
 * initdb; the first rename wins and the others throw theirs away.
 */
import { chown, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { EmbeddedUnavailableError } from "../errors.ts";
import type { Binaries } from "./binaries.ts";
import type { EmbeddedHome } from "./home.ts";
import { exists } from "./exists.ts";
import { ensurePassword } from "./password.ts";
import { runProgram, tailOf } from "./run-program.ts";
import { removeTree, scratchPath } from "./scratch.ts";

/**
 * Makes the cluster of the home unless it exists.
 * @throws EMBEDDED_UNAVAILABLE when initdb fails, or something else lies in its place.
 */
export async function ensureCluster(
  home: EmbeddedHome,
  binaries: Binaries,
): Promise<void> {
  if (await hasCluster(home)) return;
  await ensurePassword(home);
  const scratch = scratchPath(home.dataDirectory);
  try {
    await initialise(home, binaries, scratch);
    await rename(scratch, home.dataDirectory);
  } catch (error) {
    await removeTree(scratch);
    if (!(await hasCluster(home))) throw error;
  }
}

async function initialise(
  home: EmbeddedHome,
  binaries: Binaries,
  folder: string,
): Promise<void> {
  await mkdir(folder, { mode: 0o700 });
  if (home.account !== null) {
    await chown(folder, home.account.uid, home.account.gid);
  }
  const end = await runProgram(home, binaries.initdb, [
    `--pgdata=${folder}`,
    "--username=turnlog",
    `--pwfile=${home.passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    ...localeArguments(process.platform),
    "--set=timezone=UTC",
    "--set=log_timezone=UTC",
    "--no-instructions",
  ]);
  if (!end.succeeded) {
    throw new EmbeddedUnavailableError(
      `The embedded Postgres could not make its cluster: ${tailOf(end.output)} (log: ${home.logFile}).`,
    );
  }
}

/** C.UTF-8 of the C library on Linux; elsewhere it may have none, and Postgres' own does the same. */
function localeArguments(platform: string): readonly string[] {
  return platform === "linux"
    ? ["--locale=C.UTF-8"]
    : ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
}

async function hasCluster(home: EmbeddedHome): Promise<boolean> {
  return exists(join(home.dataDirectory, "PG_VERSION"));
}
