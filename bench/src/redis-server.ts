/** A redis-server of the run's own, where there is one on the PATH. It keeps nothing on disk. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { freePort } from "../../src/embedded/free-port.ts";

export interface BenchRedis extends AsyncDisposable {
  readonly url: string;
}

const PROGRAM = "redis-server";

/** Null where no redis-server can be run. */
export async function startRedis(): Promise<BenchRedis | null> {
  if (spawnSync(PROGRAM, ["--version"]).status !== 0) return null;
  const port = String(await freePort());
  const child = spawn(
    PROGRAM,
    ["--port", port, "--bind", "127.0.0.1", "--save", ""],
    { cwd: tmpdir(), stdio: "ignore" },
  );
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}
