/**
 * Runs one of the Postgres programs to its end. What it prints goes to the log file, not
 * through a pipe: a server that `pg_ctl` leaves behind would hold a pipe open for ever.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { identityOf } from "./account.ts";
import type { EmbeddedHome } from "./home.ts";

/** How a program ended; `output` is what the log file got meanwhile. */
export interface ProgramEnd {
  readonly succeeded: boolean;
  readonly output: string;
}

/** English messages, UTC, and nothing of our own environment (PGDATA, PGPORT, …). */
const environment = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
};

/** Runs the program as the home's account, in a session of its own, out of reach of the terminal's Ctrl-C. */
export async function runProgram(
  home: EmbeddedHome,
  program: string,
  args: readonly string[],
): Promise<ProgramEnd> {
  const log = await openLog(home);
  try {
    const { size } = await log.stat();
    const child = spawn(program, args, {
      ...identityOf(home.account),
      cwd: home.directory,
      env: environment,
      detached: true,
      windowsHide: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    const failure = await once(child, "exit").then(
      ([code]: unknown[]) => (code === 0 ? null : ""),
      (error: unknown) => `${String(error)}\n`,
    );
    const output = await readFrom(log, size);
    return { succeeded: failure === null, output: output + (failure ?? "") };
  } finally {
    await log.close();
  }
}

/** The last lines of an output on one line, for an error message. */
export function tailOf(output: string): string {
  return output
    .trim()
    .split(/\s*\n\s*/)
    .slice(-4)
    .join(" | ");
}

async function openLog(home: EmbeddedHome): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  // The server's account owns the folder: root must not follow a link planted there.
  const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW;
  const log = await open(home.logFile, flags, 0o600);
  if (home.account !== null) {
    await log.chown(home.account.uid, home.account.gid);
  }
  return log;
}

async function readFrom(log: FileHandle, position: number): Promise<string> {
  const { size } = await log.stat();
  const { buffer, bytesRead } = await log.read({
    buffer: Buffer.alloc(Math.max(0, size - position)),
    position,
  });
  return buffer.toString("utf8", 0, bytesRead);
}
