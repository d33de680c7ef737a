/** `turnlog start` in a process of its own, as in production; from the build that the benchmarks run from. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const MAIN = join(import.meta.dirname, "..", "..", "src", "cli", "main.js");

/** @param environment what chooses the queue's driver */
export function startPipelineProcess(
  databaseUrl: string,
  environment: Readonly<Record<string, string>> = {},
): AsyncDisposable {
  const child = spawn(
    process.execPath,
    [MAIN, "start", "--database-url", databaseUrl],
    {
      env: { ...environment, TURNLOG_LOG_LEVEL: "warn" },
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  return {
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
