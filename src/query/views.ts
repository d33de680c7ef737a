/** The read views as typed relations: for our own queries, and to join in a caller's drizzle queries. */
import {
  bigint,
  boolean,
  doublePrecision,
  pgSchema,
  text,
  timestamp,
} from "drizzle-orm/pg-core";

const read = pgSchema("turnlog_read");
const count = (name: string) => bigint(name, { mode: "number" });
const instant = (name: string) => timestamp(name, { withTimezone: true });

/** One row a session. */
export const sessionsView = read
  .view("sessions", {
    sessionId: text("session_id").notNull(),
    title: text("title"),
    titleSource: text("title_source"),
    tenant: text("tenant"),
    parentSessionId: text("parent_session_id"),
    origin: text("origin"),
    cwd: text("cwd"),
    createdMs: count("created_ms").notNull(),
    createdAt: instant("created_at"),
    lastPromptMs: count("last_prompt_ms"),
    lastPromptAt: instant("last_prompt_at"),
    activityMs: count("activity_ms").notNull(),
    activityAt: instant("activity_at"),
    lastEventMs: count("last_event_ms").notNull(),
    lastEventAt: instant("last_event_at"),
    head: count("head").notNull(),
    turnCount: count("turn_count").notNull(),
    stepCount: count("step_count").notNull(),
    status: text("status").notNull(),
    referenceTokenUsage: text("reference_token_usage").notNull(),
    referenceSessionStats: text("reference_session_stats").notNull(),
    asOfSeq: count("as_of_seq").notNull(),
  })
  .existing();

/** One row for each message that ever stood on the surface. */
export const messagesView = read
  .view("messages", {
    sessionId: text("session_id").notNull(),
    seq: count("seq").notNull(),
    orderKey: count("order_key").notNull(),
    turn: count("turn"),
    step: count("step"),
    role: text("role").notNull(),
    sourceKind: text("source_kind").notNull(),
    onSurface: boolean("on_surface").notNull(),
    inTranscript: boolean("in_transcript").notNull(),
    replacedBySeq: count("replaced_by_seq"),
    interrupted: boolean("interrupted").notNull(),
    text: text("text").notNull(),
    content: text("content").notNull(),
    provider: text("provider"),
    model: text("model"),
    timeMs: count("time_ms").notNull(),
    timeAt: instant("time_at"),
  })
  .existing();

/** One row a request attempt or auxiliary request. */
export const usageView = read
  .view("usage", {
    sessionId: text("session_id").notNull(),
    turn: count("turn"),
    step: count("step"),
    attempt: count("attempt"),
    kind: text("kind").notNull(),
    inherited: boolean("inherited").notNull(),
    provider: text("provider"),
    model: text("model"),
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    cacheReadTokens: count("cache_read_tokens"),
    cacheWriteTokens: count("cache_write_tokens"),
    reasoningTokens: count("reasoning_tokens"),
    flagged: boolean("flagged").notNull(),
    timeMs: count("time_ms").notNull(),
    timeAt: instant("time_at"),
    seq: count("seq").notNull(),
    firstSeq: count("first_seq").notNull(),
  })
  .existing();

/** Sums of usage for each session, provider and model; own and inherited apart. */
export const tokenStatsView = read
  .view("token_stats", {
    sessionId: text("session_id").notNull(),
    provider: text("provider"),
    model: text("model"),
    requestCount: count("request_count").notNull(),
    failedCount: count("failed_count").notNull(),
    inputTokens: count("input_tokens").notNull(),
    outputTokens: count("output_tokens").notNull(),
    cacheReadTokens: count("cache_read_tokens").notNull(),
    cacheWriteTokens: count("cache_write_tokens").notNull(),
    reasoningTokens: count("reasoning_tokens").notNull(),
    totalTokens: count("total_tokens").notNull(),
    cacheHitRatio: doublePrecision("cache_hit_ratio"),
    inheritedRequestCount: count("inherited_request_count").notNull(),
    inheritedInputTokens: count("inherited_input_tokens").notNull(),
    inheritedOutputTokens: count("inherited_output_tokens").notNull(),
    inheritedCacheReadTokens: count("inherited_cache_read_tokens").notNull(),
    inheritedCacheWriteTokens: count("inherited_cache_write_tokens").notNull(),
    inheritedTotalTokens: count("inherited_total_tokens").notNull(),
  })
  .existing();

/** One row for each title a session was given. */
export const titlesView = read
  .view("titles", {
    sessionId: text("session_id").notNull(),
    seq: count("seq").notNull(),
    title: text("title").notNull(),
    source: text("source").notNull(),
    isCurrent: boolean("is_current").notNull(),
    timeMs: count("time_ms").notNull(),
    timeAt: instant("time_at"),
  })
  .existing();

export type SessionListRow = typeof sessionsView.$inferSelect;
export type MessageRow = typeof messagesView.$inferSelect;
export type UsageRow = typeof usageView.$inferSelect;
export type TokenStatsRow = typeof tokenStatsView.$inferSelect;
export type TitleRow = typeof titlesView.$inferSelect;
