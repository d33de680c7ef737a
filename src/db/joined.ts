/** A transaction of the caller's, made by one of three drivers, as something that our statements run in. */
import { randomUUID } from "node:crypto";
import { sql, type SQL } from "drizzle-orm";
import pg from "pg";
import { TransactionUnsuitableError } from "../errors.ts";
import type { Queryable } from "./connect.ts";
import { toTurnlogError } from "./pg-errors.ts";

/** A client of `pg` on which a transaction has begun. */
export interface PgTransaction {
  query(config: {
    readonly text: string;
    readonly values: unknown[];
  }): Promise<unknown>;
}

/** What drizzle gives to the callback of `db.transaction`, on `pg` or on `postgres`. */
export interface DrizzleTransaction {
  execute(query: SQL): PromiseLike<unknown>;
}

/** What the `postgres` package gives to the callback of `sql.begin`. */
export interface PostgresTransaction {
  unsafe(
    query: string,
    parameters: (string | number | boolean | Buffer | null)[],
  ): PromiseLike<unknown>;
}

export type CallerTransaction =
  PgTransaction | DrizzleTransaction | PostgresTransaction;

/**
 * Makes sure that our statements may join the transaction. Two statements of its own.
 * @throws TransactionUnsuitableError when it is none, is read-only, or is of another isolation than READ COMMITTED
 */
export async function joinTransaction(
  tx: CallerTransaction,
): Promise<Queryable> {
  const run = runnerOf(tx);
  const db: Queryable = {
    async rows({ text }, values = []) {
      try {
        return rowsOf(await run(text, [...values]));
      } catch (error) {
        throw toTurnlogError(error);
      }
    },
  };
  await requireSuitable(db);
  return db;
}

/** A setting that is local to the transaction is still there at the next statement only where there is one. */
async function requireSuitable(db: Queryable): Promise<void> {
  const token = randomUUID();
  const [first] = await db.rows<{ isolation: string; read_only: string }>(
    {
      text: `
        select set_config('turnlog.joined', $1::text, true),
               current_setting('transaction_isolation') as isolation,
               current_setting('transaction_read_only') as read_only`,
    },
    [token],
  );
  const [second] = await db.rows<{ token: string | null }>({
    text: "select current_setting('turnlog.joined', true) as token",
  });
  if (second?.token !== token)
    throw new TransactionUnsuitableError("No transaction is open on it.");
  if (first?.isolation !== "read committed")
    throw new TransactionUnsuitableError(
      `Its isolation is ${first?.isolation ?? "unknown"}; begin it with READ COMMITTED.`,
    );
  if (first.read_only !== "off")
    throw new TransactionUnsuitableError("It is read-only.");
}

type Runner = (text: string, values: unknown[]) => PromiseLike<unknown>;

/** drizzle first: its `query` is no function, but that of `pg` is, and `postgres` is a function itself. */
function runnerOf(tx: CallerTransaction): Runner {
  if (hasMethod(tx, "execute"))
    return (text, values) => tx.execute(withParameters(text, values));
  if (hasMethod(tx, "query"))
    return (text, values) => tx.query({ text, values });
  if (hasMethod(tx, "unsafe"))
    return (text, values) =>
      Reflect.apply(tx.unsafe.bind(tx), null, [text, values]);
  throw new TransactionUnsuitableError(
    "It is no transaction of pg, drizzle or postgres.",
  );
}

function hasMethod<K extends "execute" | "query" | "unsafe">(
  tx: CallerTransaction,
  name: K,
): tx is Extract<CallerTransaction, Record<K, unknown>> {
  return (
    tx !== null &&
    ["object", "function"].includes(typeof tx) &&
    typeof Reflect.get(tx, name) === "function"
  );
}

/** The statement in drizzle's terms: every `$n` is the parameter itself. */
function withParameters(text: string, values: readonly unknown[]): SQL {
  const parts = text.split(/\$(\d+)/);
  return sql.join(
    parts.map((part, at) =>
      at % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1]),
    ),
  );
}

/** `pg` answers with rows and fields, `postgres` with rows that have columns; int8 comes as the caller has set it up. */
function rowsOf<Row extends object>(answer: unknown): Row[] {
  const isList = Array.isArray(answer);
  const rows: Row[] = isList ? answer : listOf(answer, "rows");
  const integers = listOf(answer, isList ? "columns" : "fields").flatMap(
    (column) => {
      const type = memberOf(column, "dataTypeID") ?? memberOf(column, "type");
      return type === pg.types.builtins.INT8 ? [memberOf(column, "name")] : [];
    },
  );
  if (integers.length === 0) return rows;
  return rows.map((row) => {
    const copy = { ...row };
    for (const name of integers) {
      const value = memberOf(row, String(name));
      if (value !== null) Reflect.set(copy, String(name), Number(value));
    }
    return copy;
  });
}

function listOf(value: unknown, key: string) {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? Reflect.get(value, key)
    : undefined;
}
