/** `turnlog rebuild` as a process of its own, to be killed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { built } from "./built.ts";

export interface BuilderProcess {
  /** Exit code, null where a signal ended it, and what it printed to stderr. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly stderr: string;
  }>;
  kill(signal: "SIGKILL" | "SIGINT"): void;
}

export function startBuilder(
  databaseUrl: string,
  ...args: readonly string[]
): BuilderProcess {
  const child = spawn(
    process.execPath,
    [built("src/cli/main"), "rebuild", "--all", "--yes", ...args],
    {
      env: {
        ...process.env,
        TURNLOG_DATABASE_URL: databaseUrl,
        TURNLOG_REDIS_URL: "",
      },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  return {
    ended: once(child, "close").then(() => ({ code: child.exitCode, stderr })),
    kill: (signal) => void child.kill(signal),
  };
}
