/** Transactions that stay open for as long as a test needs them, and appends inside them. */
import { randomUUID } from "node:crypto";
import type { Db, Queryable } from "../../src/db/connect.ts";
import type { NewEvent } from "../../src/events/event.ts";

/** Statements are sent in the order of the calls. Disposing of it rolls back what was not committed. */
export interface OpenTransaction extends Queryable, AsyncDisposable {
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** Begins a transaction on a connection of its own. It has no transaction id before it writes. */
export async function openTransaction(db: Db): Promise<OpenTransaction> {
  const client = await db.dedicated();
  await client.query("begin");
  return {
    rows: async <Row extends object>(
      statement: { readonly text: string },
      values: readonly unknown[] = [],
    ) => (await client.query<Row>(statement.text, [...values])).rows,
    commit: async () => void (await client.query("commit")),
    rollback: async () => void (await client.query("rollback")),
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
  const lines = (of: (event: NewEvent) => string | number): string =>
    events.map(of).join("\n");
  const [row] = await on.rows<{ outcome: string }>({ text: APPEND }, [
    sessionId,
    randomUUID(),
    expectedSeq,
    isNew ? randomUUID() : null,
    isNew ? JSON.stringify(headerOf(sessionId)) : null,
    events.length,
    events.findLastIndex(({ type }) => type !== "assistant/chunk") + 1,
    lines(() => 1),
    lines(({ type }) => type),
    lines(() => 0),
    lines(() => ""),
    lines(({ data }) => JSON.stringify(data)),
  ]);
  if (row?.outcome !== "appended")
    throw new Error(`append_v1 says ${row?.outcome}`);
}

/** Rules and state of the session stay as they are. */
const APPEND = `
  select outcome
  from turnlog.append_v1(
    _session_id => $1, _append_id => $2, _append_digest => '\\x00', _expected_seq => $3,
    _incarnation => $4, _epoch => null, _hold_ms => null, _header => $5, _tenant => null, _recreate => false,
    _rules_version => coalesce((select rules_version from turnlog.sessions where session_id = $1), 0),
    _state => coalesce((select state from turnlog.sessions where session_id = $1), '{}'),
    _event_count => $6, _facts_end => $7, _counts => $8, _types => $9, _times => $10,
    _turns => $11, _steps => $11, _ignorables => $11, _surface_ops => $11, _source_event_seqs => $11,
    _key_orders => $11, _payloads => $12)`;

function headerOf(id: string): object {
  return { version: 0, id, createdAt: 0, delegationDepth: 0 };
}
