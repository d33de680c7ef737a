/** Runs the command line as a user does. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { packageRoot } from "../../src/db/package-root.ts";
import { built } from "./built.ts";

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  readonly databaseUrl?: string;
  readonly redisUrl?: string;
  /** Working directory; default the package's. */
  readonly cwd?: string;
  /** Ends the process with SIGKILL after this long. */
  readonly killAfterMs?: number;
}

export function turnlog(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return execute(process.execPath, [built("src/cli/main"), ...args], options);
}

/** Runs a script of bash in which `turnlog` is the command. */
export function bash(
  script: string,
  options: CommandOptions = {},
): Promise<CommandResult> {
  const command = `turnlog() { '${process.execPath}' '${built("src/cli/main")}' "$@"; }`;
  return execute("bash", ["-c", `${command}\n${script}`], options);
}

async function execute(
  program: string,
  args: readonly string[],
  options: CommandOptions,
): Promise<CommandResult> {
  const { TURNLOG_DATABASE_URL: _url, ...environment } = process.env;
  const given =
    options.databaseUrl === undefined
      ? {}
      : { TURNLOG_DATABASE_URL: options.databaseUrl };
  const child = spawn(program, args, {
    cwd: options.cwd ?? packageRoot(),
    env: {
      ...environment,
      ...given,
      TURNLOG_REDIS_URL: options.redisUrl ?? "",
    },
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (output.stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (output.stderr += String(chunk)));
  const timer =
    options.killAfterMs === undefined
      ? undefined
      : setTimeout(() => child.kill("SIGKILL"), options.killAfterMs);
  await once(child, "close");
  clearTimeout(timer);
  return { code: child.exitCode, ...output };
}
