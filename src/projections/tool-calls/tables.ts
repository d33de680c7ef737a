/** One row for each tool call of the model. */
import { boolean, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../columns.ts";

export const toolCallsTable = pgTable(
  "tool_calls",
  {
    sessionId: idText("session_id").notNull(),
    /** Seq of the answer that asks for the call; of `tool/call` where no answer does. */
    seq: safeBigint("seq").notNull(),
    /** Place among the calls of that answer, from 1. */
    ordinal: safeBigint("ordinal").notNull(),
    /** Null outside of any. */
    turn: safeBigint("turn"),
    step: safeBigint("step"),
    /** Given by the provider; it may repeat. */
    callId: text("call_id").notNull(),
    name: text("name").notNull(),
    /** As the model wrote them; need not be JSON. */
    arguments: text("arguments").notNull(),
    /** True in the prefix that a session has from its parent. */
    inherited: boolean("inherited").notNull(),
    /** Seq of `tool/call`; null when it was never recorded as started. */
    callSeq: safeBigint("call_seq"),
    /** Seq of `tool/result`; null before it. */
    resultSeq: safeBigint("result_seq"),
    /** Time of `tool/call`, epoch ms; null when it was never recorded as started. */
    startedMs: safeBigint("started_ms"),
    /** From call to result; null before it, and for a call that was never started. */
    durationMs: safeBigint("duration_ms"),
    /** `ok`, `error`, `interrupted`, `not_started`, `pending`. */
    outcome: text("outcome").notNull(),
    /** Code of the failure; null when there is none. */
    errorCode: text("error_code"),
    /** Readable text of the result as it was recorded; null before it. */
    resultText: text("result_text"),
  },
  (table) => [
    primaryKey({
      name: "tool_calls_pkey",
      columns: [table.sessionId, table.seq, table.ordinal],
    }),
  ],
);
