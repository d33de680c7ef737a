/** A database of a test file's own: a clone of the migrated template, dropped at the end. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, inject } from "vitest";
import { connect, type Db } from "../../src/db/connect.ts";
import { storeOver, type SessionStore } from "../../src/session-store.ts";
import { databaseUrlOf } from "./database-url.ts";

export interface TestDatabase {
  readonly url: string;
  readonly db: Db;
  readonly store: SessionStore;
}

/** Makes a clone before the file's tests and drops it after them; the result gives it. */
export function useTestDatabase(
  options: { readonly isEmpty?: boolean } = {},
): () => TestDatabase {
  let fresh: (TestDatabase & AsyncDisposable) | undefined;
  beforeAll(async () => {
    fresh = await freshDatabase(options);
  });
  afterAll(() => fresh?.[Symbol.asyncDispose]());
  return () => {
    if (fresh === undefined)
      throw new Error("the database is there once the tests run");
    return fresh;
  };
}

/** A database that is dropped when it is disposed of: a clone of the template, or one without our schema. */
export async function freshDatabase(
  options: { readonly isEmpty?: boolean } = {},
): Promise<TestDatabase & AsyncDisposable> {
  const name = `turnlog_${randomUUID().replaceAll("-", "")}`;
  const template =
    options.isEmpty === true ? "template0" : inject("templateDatabase");
  await runAsAdmin(`create database ${name} template ${template}`);
  const opened = open(databaseUrlOf(inject("serverUrl"), name));
  return {
    ...opened,
    async [Symbol.asyncDispose]() {
      await opened.db.close();
      await runAsAdmin(`drop database if exists ${name} with (force)`);
    },
  };
}

function open(url: string): TestDatabase {
  const db = connect({
    databaseUrl: url,
    poolSize: 40,
    applicationName: "turnlog-test",
    preparedStatements: true,
  });
  return { url, db, store: storeOver(db) };
}

async function runAsAdmin(text: string): Promise<void> {
  const db = connect({
    databaseUrl: inject("serverUrl"),
    poolSize: 1,
    applicationName: "turnlog-test-admin",
    preparedStatements: false,
  });
  await db.rows({ text });
  await db.close();
}
