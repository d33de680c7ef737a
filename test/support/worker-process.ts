/** A worker of ours as a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { built } from "./built.ts";

export interface WorkerProcess {
  readonly name: "relay" | "projector";
  /** Resolves when it has logged that it runs. */
  started(): Promise<void>;
  /** Sends a signal, waits for the end, and returns the exit code; null where the signal ended it. */
  kill(signal: "SIGKILL" | "SIGTERM"): Promise<number | null>;
  /** Stops it in the middle of whatever it does, for `ms`. */
  freeze(ms: number): Promise<void>;
}

export function startWorker(
  name: WorkerProcess["name"],
  databaseUrl: string,
  redisUrl = "",
  environment: Readonly<Record<string, string>> = {},
): WorkerProcess {
  const child = spawn(process.execPath, [built(`workers/${name}`)], {
    env: {
      ...process.env,
      TURNLOG_DATABASE_URL: databaseUrl,
      TURNLOG_REDIS_URL: redisUrl,
      ...environment,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const started = new Promise<void>((resolve) => {
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      if (output.includes('"msg":"started"')) resolve();
    });
  });
  return {
    name,
    started: () => started,
    async kill(signal) {
      child.kill(signal);
      await ended;
      return child.exitCode;
    },
    async freeze(ms) {
      child.kill("SIGSTOP");
      await sleep(ms);
      child.kill("SIGCONT");
    },
  };
}
