/** Transactions as callers begin them, by each driver that an append can join. */
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { drizzle as drizzleOnPostgres } from "drizzle-orm/postgres-js";
import pg from "pg";
import postgres from "postgres";
import { DatabaseUnavailableError } from "../../src/errors.ts";
import type { CallerTransaction } from "../../src/db/joined.ts";

type Isolation = "read committed" | "repeatable read" | "serializable";

interface BeginOptions {
  readonly isolation?: Isolation;
}

/** The caller's own work in the transaction: one row of a table `runs`. */
interface CallerTx {
  readonly tx: CallerTransaction;
  readonly insertRun: (id: string) => Promise<unknown>;
}

export interface Caller extends AsyncDisposable {
  /** Commits what `work` does; rolls it back when it throws. */
  transaction<T>(
    work: (caller: CallerTx) => Promise<T>,
    options?: BeginOptions,
  ): Promise<T>;
  /** Something of the driver's on which no transaction is open. */
  readonly noTransaction: CallerTransaction;
  /**
   * Why the driver can't be tried with a connection that dies in the transaction; null where it can. `postgres` 3.4.9 sends
   * its own roll-back to the socket that is gone, and throws where nobody can catch it.
   */
  readonly diesWith: string | null;
}

const INSERT = "insert into runs (id) values ($1)";
const UNCAUGHT = "postgres throws an uncaught TypeError for its roll-back";
const swallow = (): void => undefined;

export const CALLERS: Readonly<Record<string, (url: string) => Caller>> = {
  pg: callerOfPg,
  "drizzle on pg": callerOfDrizzle,
  postgres: callerOfPostgres,
  "drizzle on postgres": callerOfDrizzleOnPostgres,
  "postgres, on a reserved connection": callerOfReserved,
};

function poolOf(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  pool.on("error", swallow);
  pool.on("connect", (client) => client.on("error", swallow));
  return pool;
}

function callerOfPg(url: string): Caller {
  const pool = poolOf(url);
  return {
    noTransaction: pool,
    diesWith: null,
    async transaction(work, { isolation = "read committed" } = {}) {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await client.query(`begin isolation level ${isolation}`);
        const result = await work({
          tx: client,
          insertRun: (id) => client.query(INSERT, [id]),
        });
        await client.query("commit");
        return result;
      } catch (error) {
        await client.query("rollback").catch((failure: Error) => {
          broken = failure;
        });
        throw error;
      } finally {
        client.release(broken);
      }
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

function callerOfDrizzle(url: string): Caller {
  const pool = poolOf(url);
  const db = drizzle(pool);
  return {
    noTransaction: db,
    diesWith: null,
    transaction: (work, { isolation = "read committed" } = {}) =>
      db.transaction(
        (tx) =>
          work({
            tx,
            insertRun: (id) =>
              tx.execute(sql`insert into runs (id) values (${id})`),
          }),
        { isolationLevel: isolation },
      ),
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

function callerOfPostgres(url: string): Caller {
  const client = postgres(url, { max: 4, onnotice: swallow });
  return {
    noTransaction: client,
    diesWith: UNCAUGHT,
    async transaction(work, { isolation = "read committed" } = {}) {
      const done = { result: undefined };
      return client
        .begin(`isolation level ${isolation}`, async (tx) =>
          Object.assign(done, {
            result: await work({
              tx,
              insertRun: (id) => tx.unsafe(INSERT, [id]),
            }),
          }),
        )
        .then(({ result }) => result);
    },
    [Symbol.asyncDispose]: () => client.end({ timeout: 1 }),
  };
}

function callerOfDrizzleOnPostgres(url: string): Caller {
  const client = postgres(url, { max: 4, onnotice: swallow });
  const db = drizzleOnPostgres(client);
  return {
    noTransaction: db,
    diesWith: UNCAUGHT,
    transaction: (work, { isolation = "read committed" } = {}) =>
      db.transaction(
        (tx) =>
          work({
            tx,
            insertRun: (id) =>
              tx.execute(sql`insert into runs (id) values (${id})`),
          }),
        { isolationLevel: isolation },
      ),
    [Symbol.asyncDispose]: () => client.end({ timeout: 1 }),
  };
}

/** The caller begins and ends the transaction itself, and sends nothing to a connection that is gone. */
function callerOfReserved(url: string): Caller {
  const client = postgres(url, { max: 4, onnotice: swallow });
  return {
    noTransaction: client,
    diesWith: null,
    async transaction(work, { isolation = "read committed" } = {}) {
      const reserved = await client.reserve();
      await reserved.unsafe(`begin isolation level ${isolation}`);
      let isGone = false;
      try {
        const result = await work({
          tx: reserved,
          insertRun: (id) => reserved.unsafe(INSERT, [id]),
        });
        await reserved.unsafe("commit");
        return result;
      } catch (error) {
        isGone = error instanceof DatabaseUnavailableError;
        if (!isGone) await reserved.unsafe("rollback");
        throw error;
      } finally {
        if (!isGone) reserved.release();
      }
    },
    [Symbol.asyncDispose]: () => client.end({ timeout: 1 }),
  };
}
