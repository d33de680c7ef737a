/**
 * Logs in to the server that the data directory's lock file names and registers as one of
 * its users: a shared advisory lock, held by an idle connection in the database `postgres`
 * (so that `turnlog` can be dropped or used as a template). The server frees it whenever
 * the process ends, however that happens. Whoever gets the lock exclusively is the last
 * user; a new user waits for it until the server stops, and then starts the server anew.
 */
import { realpath } from "node:fs/promises";
import { Client, DatabaseError } from "pg";
import { ensureDatabase } from "./database.ts";
import { hasCode } from "./error-code.ts";
import type { EmbeddedHome } from "./home.ts";
import { readLockFile } from "./lock-file.ts";

/** Key of the lock: "turn" in ASCII, 1. Nothing else takes advisory locks in the database `postgres`. */
export const useLockKey = [0x7475726e, 1] as const;

/** A registered user of the server. */
export interface Registration {
  readonly kind: "registered";
  readonly client: Client;
  readonly port: number;
}

/** How a login ended. `busy`: a server is there, but starting, stopping or full. */
export type Login =
  | Registration
  | { readonly kind: "absent" | "busy" }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Logs in, registers, and sees that the database `turnlog` is there. The lock is held in
 * shared mode for as long as the client is connected.
 */
export async function logIn(
  home: EmbeddedHome,
  password: string,
): Promise<Login> {
  const lock = await readLockFile(home.dataDirectory);
  if (lock === null) return { kind: "absent" };
  const client = newClient(lock.port, password);
  try {
    await client.connect();
    if (await serves(client, home.dataDirectory)) {
      await client.query("select pg_advisory_lock_shared($1, $2)", [
        ...useLockKey,
      ]);
      await ensureDatabase(client);
      return { kind: "registered", client, port: lock.port };
    }
    await client.end();
    return { kind: "absent" };
  } catch (error) {
    // Not awaited: on a lost connection pg may wait for an event that has passed.
    void client.end();
    return failureOf(error);
  }
}

function newClient(port: number, password: string): Client {
  const client = new Client({
    host: "127.0.0.1",
    port,
    user: "turnlog",
    password,
    database: "postgres",
    ssl: false,
    application_name: "turnlog-embedded",
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {
    // A lost connection also ends the client, and that is what its holder listens to.
  });
  return client;
}

/** After a crash the port may be another server's, one that lets everybody in. */
async function serves(client: Client, dataDirectory: string): Promise<boolean> {
  const { rows } = await client.query<{ served: string }>(
    "select current_setting('data_directory') as served",
  );
  const [served, ours] = await Promise.all([
    realpath(rows[0]?.served ?? "").catch(() => null),
    realpath(dataDirectory),
  ]);
  return served === ours;
}

function failureOf(error: unknown): Exclude<Login, Registration> {
  // Shutting down, crashed, starting up; all connections taken.
  if (hasCode(error, "57P01", "57P02", "57P03", "53300")) {
    return { kind: "busy" };
  }
  if (error instanceof DatabaseError) {
    return { kind: "refused", reason: error.message };
  }
  // Nobody listens there, or somebody who does not speak the protocol.
  return { kind: "absent" };
}
