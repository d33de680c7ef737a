/** Finds the files that ship beside the code: migrations and example sessions. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of this package, from the sources as from any build of them below it. */
export function packageRoot(): string {
  let at = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(at, "drizzle", "meta", "_journal.json")))
    at = dirname(at);
  return at;
}
