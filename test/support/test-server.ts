/** A Postgres for the tests: a given one, else Docker's, else the embedded one. */
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  GenericContainer,
  getContainerRuntimeClient,
  Wait,
} from "testcontainers";
import { startEmbeddedPostgres } from "../../src/embedded/embedded-postgres.ts";

export interface TestServer {
  /** URL of a database from which others can be made. */
  readonly url: string;
  /** Where it came from, for the output of the run. */
  readonly origin: string;
  stop(): Promise<void>;
}

/** Tests lose nothing by it, and are several times as fast; the server's own crash is not what they test. */
const FAST_SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  max_connections: "200",
};

export async function startTestServer(
  givenUrl: string | undefined,
): Promise<TestServer> {
  if (givenUrl !== undefined)
    return {
      url: givenUrl,
      origin: "TURNLOG_TEST_DATABASE_URL",
      stop: () => Promise.resolve(),
    };
  return (await hasDocker()) ? startContainer() : startEmbedded();
}

export async function hasDocker(): Promise<boolean> {
  try {
    await getContainerRuntimeClient();
    return true;
  } catch {
    // No engine answers: that is what was asked.
    return false;
  }
}

async function startContainer(): Promise<TestServer> {
  const container = await new GenericContainer("postgres:18")
    .withEnvironment({
      POSTGRES_USER: "turnlog",
      POSTGRES_PASSWORD: "turnlog",
      POSTGRES_DB: "turnlog",
    })
    .withCommand(
      Object.entries(FAST_SETTINGS).flatMap(([name, value]) => [
        "-c",
        `${name}=${value}`,
      ]),
    )
    .withExposedPorts(5432)
    .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
    .start();
  const url = `postgres://turnlog:turnlog@${container.getHost()}:${container.getMappedPort(5432)}/turnlog`;
  return {
    url,
    origin: "Docker",
    stop: () => container.stop().then(() => undefined),
  };
}

async function startEmbedded(): Promise<TestServer> {
  const directory = join(tmpdir(), `turnlog-test-${process.pid}`);
  const server = await startEmbeddedPostgres({
    directory,
    settings: FAST_SETTINGS,
  });
  return {
    url: server.databaseUrl,
    origin: "embedded Postgres",
    async stop() {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
