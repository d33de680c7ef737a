/** Transactions that stay open for as long as a test needs them, and appends inside them. */
import { randomUUID } from "node:crypto";
import type { Db, Queryable } from "../../src/db/connect.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { callAppend } from "../../src/log/append-call.ts";
import { encodeAppend } from "../../src/log/encode-append.ts";

/** Disposing of it rolls back what was not committed. */
export interface OpenTransaction extends Queryable, AsyncDisposable {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Begins a transaction on a connection of its own. It has no transaction id before it writes. */
export async function openTransaction(db: Db): Promise<OpenTransaction> {
  const client = await db.dedicated();
  await client.query("begin");
  const finish = async (verb: "commit" | "rollback"): Promise<void> => {
    await client.query(verb);
    await client.end();
  };
  return {
    rows: async <Row extends object>(
      statement: { readonly text: string },
      values: readonly unknown[] = [],
    ) => (await client.query<Row>(statement.text, [...values])).rows,
    commit: () => finish("commit"),
    rollback: () => finish("rollback"),
    [Symbol.asyncDispose]: () => client.end().catch(() => undefined),
  };
}

/** One call of `append_v1`: nobody is notified, and it is committed when the transaction is. */
export async function appendIn(
  on: Queryable,
  sessionId: string,
  events: readonly NewEvent[],
  expectedSeq: number,
): Promise<void> {
  const isNew = expectedSeq === 0;
  const header = {
    version: 0,
    id: sessionId,
    createdAt: 0,
    delegationDepth: 0,
  };
  const { outcome } = await callAppend(on, {
    sessionId,
    appendId: randomUUID(),
    expectedSeq,
    incarnation: isNew ? randomUUID() : null,
    header: isNew ? JSON.stringify(header) : null,
    tenant: null,
    recreate: false,
    batch: encodeAppend(events, expectedSeq, 0),
  });
  if (outcome !== "appended") throw new Error(`append_v1 says ${outcome}`);
}
