/** Stops the server. */
import { setTimeout as pause } from "node:timers/promises";
import type { Binaries } from "./binaries.ts";
import type { EmbeddedHome } from "./home.ts";
import { isAlive } from "./is-alive.ts";
import { readLockFile } from "./lock-file.ts";
import { runProgram } from "./run-program.ts";

const stopLimitMs = 60_000;
const pollMs = 10;

/**
 * Has the server end its sessions, write a checkpoint and stop. Waits up to 60 s; false
 * when it runs on. `pg_ctl --wait` is not up to it: when a waiting user starts the next
 * server at once, it sees a lock file and the old one's zombie, and takes them for the old server.
 */
export async function stopServer(
  home: EmbeddedHome,
  binaries: Binaries,
): Promise<boolean> {
  const stopping = await readLockFile(home.dataDirectory);
  if (stopping === null) return true;
  const { succeeded } = await runProgram(home, binaries.pgCtl, [
    "stop",
    "--silent",
    "--no-wait",
    "--mode=fast",
    `--pgdata=${home.dataDirectory}`,
  ]);
  const deadline = Date.now() + (succeeded ? stopLimitMs : 0);
  while (Date.now() < deadline) {
    const lock = await readLockFile(home.dataDirectory);
    if (lock?.pid !== stopping.pid || !isAlive(lock.pid)) return true;
    await pause(pollMs);
  }
  return false;
}
