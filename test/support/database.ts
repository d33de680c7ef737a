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

/** Makes a clone before the file's tests and drops it after them; `current()` gives it. */
export function useTestDatabase(
  options: { readonly isEmpty?: boolean } = {},
): () => TestDatabase {
  const name = `turnlog_${randomUUID().replaceAll("-", "")}`;
  let current: TestDatabase | undefined;
  beforeAll(async () => {
    const template =
      options.isEmpty === true ? "template0" : inject("templateDatabase");
    await runAsAdmin(`create database ${name} template ${template}`);
    current = open(databaseUrlOf(inject("serverUrl"), name));
  });
  afterAll(async () => {
    await current?.db.close();
    await runAsAdmin(`drop database if exists ${name} with (force)`);
  });
  return () => {
    if (current === undefined)
      throw new Error("the database is there once the tests run");
    return current;
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
