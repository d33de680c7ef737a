/**
 * A real Postgres without an installation: the platform packages' programs, a cluster in a
 * folder of the project, and a server that any number of processes of one user share.
 */
import { EmbeddedUnavailableError } from "../errors.ts";
import { type Anchor, keepAnchor } from "./anchor.ts";
import { attach } from "./attach.ts";
import { binariesOf } from "./binaries.ts";
import { ensureCluster } from "./cluster.ts";
import { chooseHome } from "./home.ts";
import { logIn } from "./login.ts";
import { removeLeftovers } from "./scratch.ts";
import { type ServerSettings, assertStartable } from "./start-server.ts";
import { stopServer } from "./stop-server.ts";
import { usableBinaries } from "./usable-binaries.ts";

/** One use of an embedded server, which runs for as long as somebody uses it. Keeps the process alive until it is closed. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** The database `turnlog`, as its superuser `turnlog`, over loopback TCP. Secret: it holds the password. */
  readonly databaseUrl: string;
  /** Absolute path of the cluster. */
  readonly dataDirectory: string;
  /** Whether the server ran already, left by a killed process or shared with another one. */
  readonly adopted: boolean;
  /** Lets go, idempotently; the last user stops the server. Close pools first: their sessions end with it. */
  close(): Promise<void>;
}

/** Where and how to run. */
export interface EmbeddedOptions {
  /** Folder of the cluster, its password and its log; created if missing. */
  readonly directory: string;
  /** More server settings (`{ fsync: "off" }` for tests). A running server keeps those it was started with. */
  readonly settings?: ServerSettings;
  /** Hears, one line each, what the user should know: above all that the data is kept in another place. */
  readonly onNotice?: (line: string) => void;
}

/**
 * Uses the embedded server of the directory: makes its cluster at the first call, adopts
 * its server when it runs, starts it otherwise. Every call counts as one use, in one
 * process as in several; a process that is killed stops counting at once.
 * @throws EMBEDDED_UNAVAILABLE where it can't run: no package for this platform, no account
 *   to run as, no right or room to write, a server that fails (with the end of its log).
 */
export async function startEmbeddedPostgres(
  options: EmbeddedOptions,
): Promise<EmbeddedPostgres> {
  const { directory, settings = {}, onNotice = () => {} } = options;
  try {
    const installed = binariesOf(process.platform, process.arch);
    const home = await chooseHome(directory, onNotice);
    await removeLeftovers(home.directory);
    const binaries = await usableBinaries(home, installed);
    assertStartable(home, binaries);
    await ensureCluster(home, binaries);
    const attachment = await attach(home, binaries, settings);
    const { registration, password, adopted } = attachment;
    const anchor = keepAnchor(registration, () => logIn(home, password));
    const close = once(async () => {
      await letGo(anchor, async () => {
        if (await stopServer(home, binaries)) return;
        onNotice(
          `Postgres was asked to stop and still runs; see ${home.logFile}.`,
        );
      });
    });
    return {
      databaseUrl: `postgres://turnlog:${password}@127.0.0.1:${registration.port}/turnlog`,
      dataDirectory: home.dataDirectory,
      adopted,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    throw asUnavailable(error, directory);
  }
}

async function letGo(anchor: Anchor, stop: () => Promise<void>): Promise<void> {
  try {
    // While this anchor holds the exclusive lock, a new user waits, and starts the server anew.
    if (await anchor.release()) await stop();
  } finally {
    await anchor.end();
  }
}

function once(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= action());
}

/** Failures of the file system, of spawning and of Postgres carry a code; anything else is a bug of ours. */
function asUnavailable(error: unknown, directory: string): unknown {
  if (error instanceof EmbeddedUnavailableError) return error;
  if (!(error instanceof Error && "code" in error)) return error;
  return new EmbeddedUnavailableError(
    `The embedded Postgres can't run in ${directory}: ${error.message}.`,
    { cause: error },
  );
}
