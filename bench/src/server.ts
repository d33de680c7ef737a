/** The Postgres that is measured on: an embedded one of this run, or a given one. */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { startEmbeddedPostgres } from "../../src/embedded/embedded-postgres.ts";

export interface BenchServer extends AsyncDisposable {
  /** Makes an empty database and returns its URL; it is dropped with the server's use. */
  readonly createDatabase: () => Promise<string>;
  /** Rows of a statement, on a connection that measures and is not measured. */
  readonly rows: (text: string) => Promise<readonly Record<string, unknown>[]>;
  /** Folder of the cluster; null where the server is not this run's own. */
  readonly dataDirectory: string | null;
}

/** Durable as by default. No checkpoint falls into a round, since it would hit one contender and spare another. */
const SETTINGS = {
  max_connections: "200",
  shared_buffers: "512MB",
  max_wal_size: "8GB",
  checkpoint_timeout: "60min",
};

export interface ServerChoice {
  /** Of a role that may create databases; absent: an embedded server of this run. */
  readonly databaseUrl?: string;
  /** Where the embedded one keeps its data. @defaultValue the system's folder for temporary files */
  readonly directory?: string;
}

export async function openServer(choice: ServerChoice): Promise<BenchServer> {
  const { databaseUrl, directory: parent = tmpdir() } = choice;
  if (databaseUrl !== undefined)
    return useServer(databaseUrl, null, () => Promise.resolve());
  const directory = join(parent, `turnlog-bench-${process.pid}`);
  const server = await startEmbeddedPostgres({ directory, settings: SETTINGS });
  return useServer(server.databaseUrl, server.dataDirectory, async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });
}

function useServer(
  url: string,
  dataDirectory: string | null,
  stop: () => Promise<void>,
): BenchServer {
  const admin = new pg.Pool({ connectionString: url, max: 1 });
  const made: string[] = [];
  return {
    dataDirectory,
    async createDatabase() {
      const name = `turnlog_bench_${randomUUID().replaceAll("-", "")}`;
      await admin.query(`create database ${name} template template0`);
      made.push(name);
      return databaseUrlOf(url, name);
    },
    rows: async (text) => (await admin.query(text)).rows,
    async [Symbol.asyncDispose]() {
      for (const name of made)
        await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
      await stop();
    },
  };
}

function databaseUrlOf(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
