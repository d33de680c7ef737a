/** One row for each turn. */
import { boolean, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../columns.ts";

export const turnsTable = pgTable(
  "turns",
  {
    sessionId: idText("session_id").notNull(),
    /** Number of the turn as its events name it; null where that is no number. */
    turn: safeBigint("turn"),
    /** Seq of `turn/start`. */
    startSeq: safeBigint("start_seq").notNull(),
    /** Seq of `turn/end`; null while the turn is open. */
    endSeq: safeBigint("end_seq"),
    /** Kind of the end; null while the turn is open. */
    reason: text("reason"),
    /** True in the prefix that a session has from its parent. */
    inherited: boolean("inherited").notNull(),
    /** Steps ended. */
    stepCount: safeBigint("step_count").notNull(),
    /** Time of `turn/start`, epoch ms. */
    startedMs: safeBigint("started_ms").notNull(),
    /** From `turn/start` to `turn/end`; null while the turn is open. */
    durationMs: safeBigint("duration_ms"),
    /** Sums over the turn's steps and calls, in ms: see `SessionStats`. */
    modelMs: safeBigint("model_ms").notNull(),
    toolMs: safeBigint("tool_ms").notNull(),
    firstTokenMs: safeBigint("first_token_ms").notNull(),
    firstTokenSteps: safeBigint("first_token_steps").notNull(),
    decodeMs: safeBigint("decode_ms").notNull(),
    decodeTokens: safeBigint("decode_tokens").notNull(),
  },
  (table) => [
    primaryKey({
      name: "turns_pkey",
      columns: [table.sessionId, table.startSeq],
    }),
  ],
);
