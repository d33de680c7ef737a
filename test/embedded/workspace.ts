/** Directories, servers and processes of one test file, all gone after each test. */
import {
  type ChildProcess,
  type SpawnOptions,
  execFile,
  spawn,
} from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach } from "vitest";
import { z } from "zod";
import {
  type EmbeddedOptions,
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from "../../src/embedded/embedded-postgres.ts";
import { isAlive } from "../../src/embedded/is-alive.ts";
import { readLockFile } from "../../src/embedded/lock-file.ts";
import { removeTree } from "../../src/embedded/scratch.ts";

const holding = z.object({
  databaseUrl: z.string(),
  dataDirectory: z.string(),
  adopted: z.boolean(),
});

/** A process of its own that uses a server (hold-server.ts). */
export interface Holder extends z.infer<typeof holding> {
  readonly child: ChildProcess;
  /** What it printed after its first line; complete once it has ended. */
  readonly printed: readonly string[];
  /** Lets it close its server and waits until it has ended. */
  finish(): Promise<void>;
}

let template: Promise<string> | undefined;
const directories: string[] = [];
const servers: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];
const dataDirectories = new Set<string>();

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  for (const server of servers.splice(0)) await server.close();
  for (const dataDirectory of dataDirectories) await killServer(dataDirectory);
  dataDirectories.clear();
  for (const directory of directories.splice(0)) await removeTree(directory);
});

afterAll(async () => {
  if (template !== undefined) await removeTree(await template);
});

/** A fresh directory that every account may enter, as a project outside a home is. */
export async function newDirectory(mode = 0o755): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "turnlog-embedded-"));
  directories.push(directory);
  await chmod(directory, mode);
  return directory;
}

/** A directory with a cluster that was made before: three times as fast as making one. */
export async function newProject(): Promise<string> {
  template ??= makeTemplate();
  const directory = await newDirectory();
  // Unlike fs.cp it keeps the owners.
  await promisify(execFile)("cp", ["-a", `${await template}/.`, directory]);
  return directory;
}

/** Removes the directory, too, after the test. */
export function removeAfterwards(directory: string): void {
  directories.push(directory);
}

/** Uses the server of the directory in this process. */
export async function start(
  directory: string,
  options: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    directory,
    settings: { fsync: "off" },
    ...options,
  });
  servers.push(server);
  dataDirectories.add(server.dataDirectory);
  return server;
}

/** Starts a process that will use the server of the directory. */
export function spawnHolder(
  directory: string,
  options: SpawnOptions = {},
): ChildProcess {
  const program = fileURLToPath(new URL("hold-server.ts", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--import", "tsx", program, directory],
    { stdio: ["pipe", "pipe", "inherit"], ...options },
  );
  children.push(child);
  return child;
}

/** Uses the server of the directory in another process; resolves once that has it. */
export async function hold(
  directory: string,
  options: SpawnOptions = {},
): Promise<Holder> {
  const child = spawnHolder(directory, options);
  if (child.stdout === null) throw new Error("The process has no output.");
  const printed: string[] = [];
  const lines = createInterface(child.stdout);
  const [first]: unknown[] = await Promise.race([
    once(lines, "line"),
    once(lines, "close").then(() => ["The process said nothing."]),
  ]);
  lines.on("line", (line) => printed.push(line));
  const facts = holding.parse(JSON.parse(String(first)));
  dataDirectories.add(facts.dataDirectory);
  return {
    ...facts,
    child,
    printed,
    async finish() {
      const ended = once(child, "close");
      child.stdin?.end();
      await ended;
    },
  };
}

async function makeTemplate(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "turnlog-embedded-"));
  await chmod(directory, 0o755);
  const server = await startEmbeddedPostgres({ directory });
  await server.close();
  return directory;
}

/** Kills the server as a power cut would; resolves when nothing but perhaps its zombie is left. */
export async function killServer(dataDirectory: string): Promise<void> {
  const lock = await readLockFile(dataDirectory);
  if (lock !== null && isAlive(lock.pid)) process.kill(lock.pid, "SIGKILL");
}
