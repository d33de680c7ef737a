/** Starts the server with pg_ctl, which detaches it from our terminal and process group. */
import { EmbeddedUnavailableError } from "../errors.ts";
import type { Binaries } from "./binaries.ts";
import { freePort } from "./free-port.ts";
import type { EmbeddedHome } from "./home.ts";
import { runProgram, tailOf } from "./run-program.ts";

/** Server settings by name, as in postgresql.conf. */
export type ServerSettings = Readonly<Record<string, string>>;

/**
 * pg_ctl puts its own path and ours between double quotes on a shell's command line and
 * escapes nothing.
 * @throws EMBEDDED_UNAVAILABLE when that would not give the paths back.
 */
export function assertStartable(home: EmbeddedHome, binaries: Binaries): void {
  if (process.platform === "win32") return;
  for (const path of [home.directory, binaries.folder]) {
    if (/["$`\\]/.test(path)) {
      throw new EmbeddedUnavailableError(
        `The embedded Postgres can't be started in ${path}: the path holds one of " $ \` \\.`,
      );
    }
  }
}

/**
 * Starts the server on a free port of the loopback interface and waits until it accepts
 * connections. False when it is worth another try: another process holds the data
 * directory or was given the same port.
 * @throws EMBEDDED_UNAVAILABLE with the end of the server's log when the server fails otherwise.
 */
export async function startServer(
  home: EmbeddedHome,
  binaries: Binaries,
  settings: ServerSettings,
): Promise<boolean> {
  const { succeeded, output } = await runProgram(home, binaries.pgCtl, [
    "start",
    "--silent",
    "--wait",
    "--timeout=60",
    `--pgdata=${home.dataDirectory}`,
    `--log=${home.logFile}`,
    `--options=${serverOptions(await freePort(), settings)}`,
  ]);
  if (succeeded) return true;
  if (passing.some((text) => output.includes(text))) return false;
  throw new EmbeddedUnavailableError(
    `The embedded Postgres did not start: ${tailOf(output)} (log: ${home.logFile}).`,
  );
}

/** What the log says of failures that pass. */
const passing = [
  // It was up, and another user adopted and stopped it before pg_ctl looked.
  "received fast shutdown request",
  'lock file "postmaster.pid" already exists',
  'lock file "postmaster.pid" is empty',
  "pre-existing shared memory block",
  "could not create any TCP/IP sockets",
  // A long recovery: the server goes on with it, and the next login finds it there.
  "server did not start in time",
];

function serverOptions(port: number, settings: ServerSettings): string {
  const fixed = { listen_addresses: "127.0.0.1", unix_socket_directories: "" };
  const flags = Object.entries({ ...settings, ...fixed }).map(
    ([name, value]) => `-c ${shellQuoted(`${name}=${value}`)}`,
  );
  return [`-p ${port}`, ...flags].join(" ");
}

/** pg_ctl hands the options to a shell. */
function shellQuoted(text: string): string {
  return process.platform === "win32"
    ? `"${text}"`
    : `'${text.replaceAll("'", `'\\''`)}'`;
}
