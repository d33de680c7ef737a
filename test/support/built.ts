/** The package as it is built, so that tests run the same files as users do, and start them quickly. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../src/db/package-root.ts";

const OUT = join(packageRoot(), "node_modules", ".turnlog-test");

/** Compiles the sources as `npm run build` does, to a place of the tests' own. */
export async function buildForTests(): Promise<void> {
  const tsc = join(packageRoot(), "node_modules", "typescript", "bin", "tsc");
  const project = join(packageRoot(), "tsconfig.build.json");
  await promisify(execFile)(process.execPath, [
    tsc,
    "-p",
    project,
    "--outDir",
    OUT,
    "--declaration",
    "false",
  ]);
}

/** Path of a built file: `src/cli/main`, `workers/relay`. */
export function built(path: string): string {
  return join(OUT, `${path}.js`);
}
