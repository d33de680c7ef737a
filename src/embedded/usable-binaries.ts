/**
 * Programs that the server's account can really run: the installed ones, or a copy in the
 * embedded server's folder (60 MB) where node_modules is read-only and lacks its links, or
 * lies where the account can't enter.
 */
import { cp, lchown, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { EmbeddedUnavailableError } from "../errors.ts";
import type { Account } from "./account.ts";
import { type Binaries, binariesIn } from "./binaries.ts";
import { hasCode } from "./error-code.ts";
import { exists } from "./exists.ts";
import type { EmbeddedHome } from "./home.ts";
import { hydrateLinks } from "./hydrate-links.ts";
import { runProgram, tailOf } from "./run-program.ts";
import { removeTree, scratchPath } from "./scratch.ts";

const manifest = z.object({ version: z.string() });

/**
 * The installed programs or a copy of them.
 * @throws EMBEDDED_UNAVAILABLE when they don't run on this system at all (another C library).
 */
export async function usableBinaries(
  home: EmbeddedHome,
  installed: Binaries,
): Promise<Binaries> {
  const linked = await hydrateLinks(installed.folder);
  if (linked && (await refusal(home, installed)) === null) return installed;
  const here = { ...home, account: null };
  if (linked) await assertRuns(here, installed);
  const copy = binariesIn(await copyOnce(home, installed));
  await assertRuns(home, copy);
  return copy;
}

async function assertRuns(
  home: EmbeddedHome,
  binaries: Binaries,
): Promise<void> {
  const reason = await refusal(home, binaries);
  if (reason !== null) {
    throw new EmbeddedUnavailableError(
      `The embedded Postgres does not run on this system (it needs glibc on Linux): ${reason}.`,
    );
  }
}

/** Why the programs don't run; null when they do. */
async function refusal(
  home: EmbeddedHome,
  binaries: Binaries,
): Promise<string | null> {
  const end = await runProgram(home, binaries.postgres, ["--version"]);
  return end.succeeded ? null : tailOf(end.output);
}

/** The folder with the copy of this version, made at most once. */
async function copyOnce(
  home: EmbeddedHome,
  { folder }: Binaries,
): Promise<string> {
  const { version } = manifest.parse(
    JSON.parse(await readFile(join(folder, "package.json"), "utf8")),
  );
  const target = join(home.directory, `binaries-${version}`);
  if (await exists(target)) return target;
  const scratch = scratchPath(target);
  await cp(join(folder, "native"), join(scratch, "native"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await hydrateLinks(scratch);
  if (home.account !== null) await giveTo(home.account, scratch);
  try {
    await rename(scratch, target);
  } catch (error) {
    await removeTree(scratch);
    // Another process was first.
    if (!hasCode(error, "ENOTEMPTY", "EEXIST", "EPERM")) throw error;
  }
  return target;
}

async function giveTo(account: Account, folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true });
  for (const name of ["", ...names]) {
    await lchown(join(folder, name), account.uid, account.gid);
  }
}
