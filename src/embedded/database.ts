/** The database `turnlog` of the embedded server. */
import type { Client } from "pg";
import { hasCode } from "./error-code.ts";

/** Creates the database unless it exists. Several processes may do so at once. */
export async function ensureDatabase(client: Client): Promise<void> {
  const { rowCount } = await client.query(
    "select oid from pg_database where datname = 'turnlog'",
  );
  if (rowCount !== 0) return;
  try {
    await client.query("create database turnlog");
  } catch (error) {
    // duplicate_database, or unique_violation when the other one has just committed.
    if (!hasCode(error, "42P04", "23505")) throw error;
  }
}
