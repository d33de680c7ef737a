/** One row a session: what a list shows. */
import { index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../columns.ts";

export const sessionsTable = pgTable(
  "sessions",
  {
    sessionId: idText("session_id").notNull(),
    /** Current title; null before the first. */
    title: text("title"),
    /** `fallback`, `provider` or `user`. */
    titleSource: text("title_source"),
    /** The title to show: of the log, or made of what a person said; null while there is nothing. */
    displayTitle: text("display_title"),
    /** Session it was forked from or delegated by; it need not be stored. */
    parentSessionId: idText("parent_session_id"),
    /** `subagent` for a delegated session. */
    origin: text("origin"),
    /** Working directory. */
    cwd: text("cwd"),
    /** Creation, epoch ms. */
    createdMs: safeBigint("created_ms").notNull(),
    /** Time of the last prompt by a human, epoch ms; null before the first. */
    lastPromptMs: safeBigint("last_prompt_ms"),
    /** The later of the two, by which the list is ordered: opening a session, titling it or answering in it moves nothing. */
    activityMs: safeBigint("activity_ms").notNull(),
    /** Time of the last event that is not a streamed delta, epoch ms. */
    lastEventMs: safeBigint("last_event_ms").notNull(),
    /** Turns begun, and steps ended. */
    turnCount: safeBigint("turn_count").notNull(),
    stepCount: safeBigint("step_count").notNull(),
    /** `open`: a turn is open; `interrupted`: the last turn was closed by a recovery; `idle` otherwise. */
    status: text("status").notNull(),
    /** Input of the latest request that reported it, cached or not, in tokens; null: none did. */
    contextTokens: safeBigint("context_tokens"),
    /** Tokens that fit in the model's context; null: not known. */
    contextWindow: safeBigint("context_window"),
    /** The reference harness' own figures over the whole log: exact JSON text. Retries overwrite each other in it. */
    referenceTokenUsage: text("reference_token_usage").notNull(),
    /** Likewise its turn, step and timing figures. */
    referenceSessionStats: text("reference_session_stats").notNull(),
    /** Seq of the last event in this row. */
    asOfSeq: safeBigint("as_of_seq").notNull(),
  },
  (table) => [
    primaryKey({ name: "sessions_pkey", columns: [table.sessionId] }),
    index("sessions_activity_ms_session_id_idx").on(
      table.activityMs,
      table.sessionId,
    ),
    index("sessions_parent_session_id_idx").on(table.parentSessionId),
  ],
);
