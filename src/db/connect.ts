/** The connection to Postgres: a pool, statements, transactions and notifications, with typed failures. */
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import pg from "pg";
import { DatabaseUnavailableError, StoreClosedError } from "../errors.ts";
import { toTurnlogError } from "./pg-errors.ts";

/** One statement. A `name` makes it a prepared one, planned once a connection. */
export interface Statement {
  readonly text: string;
  readonly name?: string;
  /** How long to wait for the answer, in ms; default a minute. The connection is given up then. */
  readonly timeoutMs?: number;
}

/** Where statements run: on any free connection, or inside a transaction. */
export interface Queryable {
  /** Runs one statement and returns its rows; int8 columns are numbers. */
  rows<Row extends object>(
    statement: Statement,
    values?: readonly unknown[],
  ): Promise<Row[]>;
}

/** An open transaction (READ COMMITTED, or a snapshot), and drizzle inside it. */
export interface Tx extends Queryable {
  readonly orm: NodePgDatabase;
}

export interface Db extends Queryable, AsyncDisposable {
  /** Connections at most. */
  readonly poolSize: number;
  readonly orm: NodePgDatabase;
  /** Runs `work` in a transaction on one connection; an error rolls it back and is rethrown typed. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The same, reading one moment of the database (REPEATABLE READ) and writing nothing. Keep it short. */
  snapshot<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** A connection of its own, outside the pool. */
  dedicated(): Promise<pg.Client>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly databaseUrl: string;
  /** Connections at most. */
  readonly poolSize: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** False behind a pooler that can't keep named statements. */
  readonly preparedStatements: boolean;
  /** How long a caller waits for a free connection, in ms. */
  readonly connectTimeoutMs?: number;
}

/** The driver gives int8 as text; everything we keep in one (seqs, times, counts) is a safe integer. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 && format !== "binary"
      ? safeInteger
      : pg.types.getTypeParser(oid, format),
};
const SNAPSHOT = "begin isolation level repeatable read, read only";
const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
const DEFAULT_STATEMENT_TIMEOUT_MS = 60_000;

/** Makes the pool. It connects at the first statement, so nothing fails here. */
export function connect(options: ConnectOptions): Db {
  const settings: pg.ClientConfig = {
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    connectionTimeoutMillis:
      options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: TYPES,
  };
  const pool = new pg.Pool({ ...settings, max: options.poolSize });
  // Without a listener a connection that dies while idle would end the process; the pool replaces it by itself.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  const runner = { prepared: options.preparedStatements };
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= pool.end());
  const whileOpen = async <T>(work: () => Promise<T>): Promise<T> => {
    if (closing !== null) throw new StoreClosedError();
    return work();
  };
  return {
    poolSize: options.poolSize,
    orm: drizzle(pool),
    rows: (statement, values) =>
      whileOpen(() => run(pool, runner, statement, values)),
    transaction: (work) =>
      whileOpen(() => inTransaction(pool, runner, "begin", work)),
    snapshot: (work) =>
      whileOpen(() => inTransaction(pool, runner, SNAPSHOT, work)),
    dedicated: () => connectDedicated(settings),
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function run<Row extends object>(
  on: pg.Pool | pg.PoolClient,
  runner: { readonly prepared: boolean },
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { text, name, timeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS } = statement;
  const query = { text, values: [...values], query_timeout: timeoutMs };
  try {
    return (
      await on.query<Row>(
        runner.prepared && name !== undefined ? { ...query, name } : query,
      )
    ).rows;
  } catch (error) {
    throw toTurnlogError(error);
  }
}

async function inTransaction<T>(
  pool: pg.Pool,
  runner: { readonly prepared: boolean },
  begin: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw toTurnlogError(error);
  });
  let broken: Error | undefined;
  try {
    await client.query(begin);
    const result = await work({
      get orm() {
        return drizzle(client);
      },
      rows: (statement, values) => run(client, runner, statement, values),
    });
    await client.query("commit");
    return result;
  } catch (error) {
    const typed = toTurnlogError(error);
    broken =
      typed instanceof DatabaseUnavailableError
        ? typed
        : await rollBack(client);
    throw typed;
  } finally {
    client.release(broken);
  }
}

/** Returns why the connection can't be used any more, if it can't. */
async function rollBack(client: pg.PoolClient): Promise<Error | undefined> {
  try {
    await client.query("rollback");
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

async function connectDedicated(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client(settings);
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw toTurnlogError(error);
  }
  return client;
}

function safeInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number))
    throw new RangeError(`${value} does not fit a safe integer`);
  return number;
}
