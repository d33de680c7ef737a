/**
 * npm packages can't hold symbolic links, so the platform packages list the links of their
 * libraries in a file and make them in a postinstall script. npm 12 and --ignore-scripts
 * don't run it; then the programs end with "libicui18n.so.60: cannot open shared object file".
 */
import { readFile, symlink } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { hasCode } from "./error-code.ts";

const linkList = z.array(z.object({ source: z.string(), target: z.string() }));

/** Makes the missing links of a package folder. False when some are missing and can't be written. */
export async function hydrateLinks(folder: string): Promise<boolean> {
  const links = await readLinks(join(folder, "native", "pg-symlinks.json"));
  for (const { source, target } of links) {
    // Link and library lie in one folder, so the name alone is enough and survives a move.
    const made = await makeLink(basename(source), join(folder, target));
    if (!made) return false;
  }
  return true;
}

async function readLinks(file: string): Promise<z.infer<typeof linkList>> {
  try {
    return linkList.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    // The Windows package has no links and no list.
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

async function makeLink(library: string, link: string): Promise<boolean> {
  try {
    await symlink(library, link);
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return true;
    if (hasCode(error, "EACCES", "EPERM", "EROFS")) return false;
    throw error;
  }
}
