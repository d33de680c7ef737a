/** One row for each request attempt, and for each auxiliary request that reports its usage. */
import { boolean, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../columns.ts";

export const usageTable = pgTable(
  "usage",
  {
    sessionId: idText("session_id").notNull(),
    /** Seq of the attempt's first recorded event: what tells attempts apart. */
    firstSeq: safeBigint("first_seq").notNull(),
    /** Seq of the event whose report counts: the attempt's last. */
    seq: safeBigint("seq").notNull(),
    /** Null for a request outside of any turn. */
    turn: safeBigint("turn"),
    step: safeBigint("step"),
    /** 1 for the first try of a step's request; null for auxiliary requests. */
    attempt: safeBigint("attempt"),
    /** `request`; `failed`: an attempt that became no message; `compaction`: a summary. */
    kind: text("kind").notNull(),
    /** True in the prefix that a session has from its parent: the parent counts it. */
    inherited: boolean("inherited").notNull(),
    provider: text("provider"),
    model: text("model"),
    /** Disjoint counts; null: not reported. Input is the uncached part; output holds the reasoning tokens. */
    inputTokens: safeBigint("input_tokens"),
    outputTokens: safeBigint("output_tokens"),
    cacheReadTokens: safeBigint("cache_read_tokens"),
    cacheWriteTokens: safeBigint("cache_write_tokens"),
    reasoningTokens: safeBigint("reasoning_tokens"),
    /** True when the provider reported something that is no count; it is in no sum. */
    flagged: boolean("flagged").notNull(),
    /** Time of the reporting event, epoch ms. */
    timeMs: safeBigint("time_ms").notNull(),
  },
  (table) => [
    primaryKey({
      name: "usage_pkey",
      columns: [table.sessionId, table.firstSeq],
    }),
  ],
);
