/** A Redis for the tests: a given one, else Docker's, else a redis-server of this machine, installed where that is allowed. */
import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { GenericContainer, Wait } from "testcontainers";
import { startRedisServer } from "./redis-server.ts";
import { hasDocker } from "./test-server.ts";

export interface TestRedis {
  /** Null where none can be had. */
  readonly url: string | null;
  /** A redis-server to start further ones from; null where there is none. */
  readonly program: string | null;
  /** Lines for the output of the run: where it came from, and what is skipped. */
  readonly notes: readonly string[];
  stop(): Promise<void>;
}

const run = promisify(execFile);
const REMEDY = "install redis-server, or set TURNLOG_TEST_REDIS_URL";

export async function startTestRedis(
  givenUrl: string | undefined,
): Promise<TestRedis> {
  if (givenUrl !== undefined)
    return given(givenUrl, "TURNLOG_TEST_REDIS_URL", await findProgram());
  if (await hasDocker()) return startContainer();
  const program = (await findProgram()) ?? (await installProgram());
  if (program === null)
    return {
      url: null,
      program,
      notes: [
        `Redis of this run: none, so the tests of the Redis queue are skipped. There is no Docker and no redis-server on PATH; ${REMEDY}.`,
      ],
      stop: () => Promise.resolve(),
    };
  const server = await startRedisServer(program);
  return {
    ...given(server.url, program, program),
    async stop() {
      await server[Symbol.asyncDispose]();
    },
  };
}

function given(url: string, origin: string, program: string | null): TestRedis {
  const notes = [`Redis of this run: ${origin}`];
  if (program === null)
    notes.push(
      "Tests that kill, freeze or flush their Redis are skipped: there is no redis-server on PATH; install it.",
    );
  return { url, program, notes, stop: () => Promise.resolve() };
}

async function startContainer(): Promise<TestRedis> {
  const container = await new GenericContainer("redis:8")
    .withCommand(["redis-server", "--save", "", "--appendonly", "no"])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  const url = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
  return {
    ...given(url, "Docker", await findProgram()),
    stop: () => container.stop().then(() => undefined),
  };
}

/** Path of the redis-server on PATH. */
async function findProgram(): Promise<string | null> {
  for (const folder of (process.env["PATH"] ?? "").split(delimiter)) {
    const file = join(folder, "redis-server");
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return file;
  }
  return null;
}

/** Debian's package, for root alone. Null where it can't be installed. */
async function installProgram(): Promise<string | null> {
  if (process.getuid?.() !== 0) return null;
  try {
    await aptInstall().catch(() => apt("update").then(aptInstall));
  } catch {
    // No apt-get, or no archive within reach: the tests that need it say that they are skipped.
    return null;
  }
  return findProgram();
}

function aptInstall(): Promise<void> {
  return apt("install", "-y", "--no-install-recommends", "redis-server");
}

async function apt(...args: readonly string[]): Promise<void> {
  await run("apt-get", args);
}
