/**
 * Gets this process registered with the running server of a home, starting one if need be.
 * No lock file of ours is needed: Postgres lets one server into a data directory, and the
 * use lock (login.ts) keeps a server from being stopped under a new user.
 */
import { setTimeout as pause } from "node:timers/promises";
import { EmbeddedUnavailableError } from "../errors.ts";
import type { Binaries } from "./binaries.ts";
import type { EmbeddedHome } from "./home.ts";
import { removeStaleLockFile } from "./lock-file.ts";
import { type Registration, logIn } from "./login.ts";
import { readPassword } from "./password.ts";
import { type ServerSettings, startServer } from "./start-server.ts";

/** A registration, the password it took, and whether the server ran before this process came. */
export interface Attachment {
  readonly registration: Registration;
  readonly password: string;
  readonly adopted: boolean;
}

const retryPauseMs = 50;
const startLimitMs = 120_000;
/** The first may come from a stranger's server on the port of ours that crashed. */
const refusalLimit = 3;

/**
 * Logs in, else starts the server and logs in; waits while it starts, recovers or stops.
 * @throws EMBEDDED_UNAVAILABLE when the server fails to start, refuses the login, or two
 *   minutes pass.
 */
export async function attach(
  home: EmbeddedHome,
  binaries: Binaries,
  settings: ServerSettings,
): Promise<Attachment> {
  const password = await readPassword(home);
  const deadline = Date.now() + startLimitMs;
  let started = false;
  let refusals = 0;
  while (Date.now() < deadline) {
    const login = await logIn(home, password);
    if (login.kind === "registered") {
      return { registration: login, password, adopted: !started };
    }
    if (login.kind !== "busy") {
      await removeStaleLockFile(home.dataDirectory);
      started = await startServer(home, binaries, settings);
    }
    if (!started && login.kind === "refused" && ++refusals === refusalLimit) {
      throw new EmbeddedUnavailableError(
        `The server of ${home.dataDirectory} refuses the login with ${home.passwordFile}: ${login.reason}.`,
      );
    }
    if (!started) await pause(retryPauseMs);
  }
  throw new EmbeddedUnavailableError(
    `The embedded Postgres did not become ready within ${startLimitMs / 1000} s (log: ${home.logFile}).`,
  );
}
