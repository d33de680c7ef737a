/**
 * postmaster.pid: Postgres' lock on a data directory, which also tells the running
 * server's process id (line 1) and port (line 4).
 */
import { readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./error-code.ts";
import { scratchPath } from "./scratch.ts";

/** What the lock file says; the server it speaks of may be dead. */
export interface LockFile {
  readonly pid: number;
  readonly port: number;
}

/** Reads the lock file; null when there is none, or its server has not written that far. */
export async function readLockFile(
  dataDirectory: string,
): Promise<LockFile | null> {
  const lines = (await readOrEmpty(lockFileIn(dataDirectory))).split("\n");
  const pid = Number(lines[0]);
  const port = Number(lines[3]);
  return pid > 0 && port > 0 ? { pid, port } : null;
}

/**
 * Removes the lock file of a dead server that Postgres would take for a running one: its
 * process id still stands for its zombie (for ever, in a container whose first process
 * does not reap) or, after a reboot, for another program of the same user; or the file is
 * empty, since the machine went down while it was written. Unused ids and other users'
 * processes Postgres ignores by itself, and its check of the shared memory goes on keeping
 * a second server off a directory in use.
 */
export async function removeStaleLockFile(
  dataDirectory: string,
): Promise<void> {
  const file = lockFileIn(dataDirectory);
  const text = await readOrEmpty(file);
  const [pid = ""] = text.split("\n");
  const isStale =
    pid === "" ? await isOld(file) : await isOtherProgram(Number(pid));
  if (isStale) await removeUnchanged(file, text);
}

function lockFileIn(dataDirectory: string): string {
  return join(dataDirectory, "postmaster.pid");
}

/** Moves the file away before the last look at it: by now it may be that of a server which another process started. */
async function removeUnchanged(file: string, text: string): Promise<void> {
  const aside = scratchPath(file);
  try {
    await rename(file, aside);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  if ((await readOrEmpty(aside)) === text) await rm(aside);
  else await rename(aside, file);
}

/** True only where Linux knows the process and says that it is a zombie or another program. */
async function isOtherProgram(pid: number): Promise<boolean> {
  const status = await readOrEmpty(`/proc/${pid}/stat`);
  const [, name, state] = /^\d+ \((.*)\) (\S)/s.exec(status) ?? [];
  if (name === undefined) return false;
  return name !== "postgres" || state === "Z" || state === "X";
}

/** A starting server fills the file at once: one that stays empty has no writer. */
async function isOld(file: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(file)).mtimeMs > 5_000;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    // ESRCH: the process ended between opening and reading its status.
    if (hasCode(error, "ENOENT", "ESRCH")) return "";
    throw error;
  }
}
