/** One Postgres and one Redis a run, and a migrated template database that each test file clones. */
import type { TestProject } from "vitest/node";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import { connect, type Db } from "../../src/db/connect.ts";
import { migrate } from "../../src/db/migrate.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { buildForTests } from "./built.ts";
import { databaseUrlOf } from "./database-url.ts";
import { startTestRedis } from "./test-redis.ts";
import { startTestServer } from "./test-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly serverUrl: string;
    readonly templateDatabase: string;
    readonly redisUrl: string | null;
    readonly redisProgram: string | null;
  }
}

export default async function setup(
  project: TestProject,
): Promise<() => Promise<void>> {
  await buildForTests();
  const server = await startTestServer(
    process.env["TURNLOG_TEST_DATABASE_URL"],
  );
  const template = `turnlog_template_${process.pid}`;
  const admin = open(server.url);
  await admin.rows({ text: `create database ${template}` });
  await prepare(databaseUrlOf(server.url, template));
  project.provide("serverUrl", server.url);
  project.provide("templateDatabase", template);
  const redis = await startTestRedis(process.env["TURNLOG_TEST_REDIS_URL"]);
  project.provide("redisUrl", redis.url);
  project.provide("redisProgram", redis.program);
  for (const note of [`Postgres of this run: ${server.origin}`, ...redis.notes])
    process.stdout.write(`${note}\n`);
  return async () => {
    await admin.rows({
      text: `drop database if exists ${template} with (force)`,
    });
    await admin.close();
    await server.stop();
    await redis.stop();
  };
}

async function prepare(databaseUrl: string): Promise<void> {
  const db = open(databaseUrl);
  await migrate(db);
  await ensureBuilds(db, builtInProjections);
  await db.close();
}

function open(databaseUrl: string): Db {
  return connect({
    databaseUrl,
    poolSize: 2,
    applicationName: "turnlog-test-setup",
    preparedStatements: true,
  });
}
