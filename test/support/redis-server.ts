/** A redis-server process of a test's own, to be killed, frozen and flushed. It keeps nothing on disk. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/embedded/free-port.ts";

export interface RedisServer extends AsyncDisposable {
  /** The same for as long as it lives, whether the server runs or not. */
  readonly url: string;
  /** Ends it with SIGKILL, frozen or not. */
  kill(): Promise<void>;
  /** Starts it again, empty. */
  restart(): Promise<void>;
  /** It accepts connections and answers nothing until it is thawed. */
  freeze(): void;
  thaw(): void;
}

/** Starts the given program on a free port. */
export async function startRedisServer(program: string): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), "turnlog-redis-"));
  const port = await freePort();
  let child = await launch(program, port, directory);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      await kill();
      child = await launch(program, port, directory);
    },
    freeze: () => void child.kill("SIGSTOP"),
    thaw: () => void child.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function launch(
  program: string,
  port: number,
  directory: string,
): Promise<ChildProcess> {
  const child = spawn(
    program,
    [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      directory,
    ],
    { stdio: ["ignore", "pipe", "ignore"] },
  );
  await new Promise<void>((resolve, reject) => {
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      if (output.includes("Ready to accept connections")) resolve();
    });
    child.once("error", reject);
    child.once("exit", () =>
      reject(new Error(`redis-server ended:\n${output}`)),
    );
  });
  return child;
}
