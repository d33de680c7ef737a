/** The read views as typed relations: for our own queries, and to join in a caller's drizzle queries. */
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  integer,
  jsonb,
  pgSchema,
  text,
  timestamp,
} from "drizzle-orm/pg-core";

const read = pgSchema("turnlog_read");
const count = (name: string) => bigint(name, { mode: "number" });
const instant = (name: string) => timestamp(name, { withTimezone: true });

/** Columns of the sums over own usage. */
const ownSums = () => ({
  requestCount: count("request_count").notNull(),
  failedCount: count("failed_count").notNull(),
  inputTokens: count("input_tokens").notNull(),
  outputTokens: count("output_tokens").notNull(),
  cacheReadTokens: count("cache_read_tokens").notNull(),
  cacheWriteTokens: count("cache_write_tokens").notNull(),
  reasoningTokens: count("reasoning_tokens").notNull(),
  totalTokens: count("total_tokens").notNull(),
  cacheHitRatio: doublePrecision("cache_hit_ratio"),
});
const ownKinds = () => ({
  compactionCount: count("compaction_count").notNull(),
  flaggedCount: count("flagged_count").notNull(),
});

/** One row a session. */
export const sessionsView = read
  .view("sessions", {
    sessionId: text("session_id").notNull(),
    title: text("title"),
    titleSource: text("title_source"),
    displayTitle: text("display_title"),
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
    contextTokens: count("context_tokens"),
    contextWindow: count("context_window"),
    isContextOver: boolean("is_context_over"),
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
    ...ownSums(),
    inheritedRequestCount: count("inherited_request_count").notNull(),
    inheritedInputTokens: count("inherited_input_tokens").notNull(),
    inheritedOutputTokens: count("inherited_output_tokens").notNull(),
    inheritedCacheReadTokens: count("inherited_cache_read_tokens").notNull(),
    inheritedCacheWriteTokens: count("inherited_cache_write_tokens").notNull(),
    inheritedTotalTokens: count("inherited_total_tokens").notNull(),
    ...ownKinds(),
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

/** One row for each turn. */
export const turnsView = read
  .view("turns", {
    sessionId: text("session_id").notNull(),
    turn: count("turn"),
    startSeq: count("start_seq").notNull(),
    endSeq: count("end_seq"),
    reason: text("reason"),
    inherited: boolean("inherited").notNull(),
    stepCount: count("step_count").notNull(),
    startedMs: count("started_ms").notNull(),
    startedAt: instant("started_at"),
    durationMs: count("duration_ms"),
    modelMs: count("model_ms").notNull(),
    toolMs: count("tool_ms").notNull(),
    firstTokenMs: count("first_token_ms").notNull(),
    firstTokenSteps: count("first_token_steps").notNull(),
    decodeMs: count("decode_ms").notNull(),
    decodeTokens: count("decode_tokens").notNull(),
  })
  .existing();

/** One row for each tool call that the model asked for. */
export const toolCallsView = read
  .view("tool_calls", {
    sessionId: text("session_id").notNull(),
    seq: count("seq").notNull(),
    ordinal: count("ordinal").notNull(),
    turn: count("turn"),
    step: count("step"),
    callId: text("call_id").notNull(),
    name: text("name").notNull(),
    arguments: text("arguments").notNull(),
    inherited: boolean("inherited").notNull(),
    callSeq: count("call_seq"),
    resultSeq: count("result_seq"),
    startedMs: count("started_ms"),
    startedAt: instant("started_at"),
    durationMs: count("duration_ms"),
    outcome: text("outcome").notNull(),
    errorCode: text("error_code"),
    resultText: text("result_text"),
  })
  .existing();

/** Token totals of each session, and with the sessions below it. */
export const sessionTotalsView = read
  .view("session_totals", {
    sessionId: text("session_id").notNull(),
    parentSessionId: text("parent_session_id"),
    ownTokens: count("own_tokens").notNull(),
    inheritedTokens: count("inherited_tokens").notNull(),
    lastRequestTokens: count("last_request_tokens"),
    subtreeSessionCount: count("subtree_session_count").notNull(),
    subtreeTokens: count("subtree_tokens").notNull(),
  })
  .existing();

/** Sums of own usage by day in UTC. */
export const usageByDayView = read
  .view("usage_by_day", {
    day: date("day", { mode: "string" }),
    sessionCount: count("session_count").notNull(),
    ...ownSums(),
    ...ownKinds(),
  })
  .existing();

/** Sums of own usage by provider and model. */
export const usageByModelView = read
  .view("usage_by_model", {
    provider: text("provider"),
    model: text("model"),
    sessionCount: count("session_count").notNull(),
    ...ownSums(),
    ...ownKinds(),
  })
  .existing();

/** The log, one row an event. */
export const eventsView = read
  .view("events", {
    sessionId: text("session_id").notNull(),
    seq: count("seq").notNull(),
    type: text("type").notNull(),
    timeMs: count("time_ms").notNull(),
    timeAt: instant("time_at"),
    turn: count("turn"),
    step: count("step"),
    surfaceOp: text("surface_op"),
    sourceEventSeqs: text("source_event_seqs"),
    ignorable: boolean("ignorable").notNull(),
    data: jsonb("data").notNull(),
  })
  .existing();

/** How far each build is. */
export const projectionStatusView = read
  .view("projection_status", {
    projection: text("projection").notNull(),
    version: integer("version").notNull(),
    build: integer("build").notNull(),
    status: text("status").notNull(),
    sessionsBehind: count("sessions_behind").notNull(),
    eventsBehind: count("events_behind").notNull(),
    oldestUnappliedMs: count("oldest_unapplied_ms"),
    failingSessions: count("failing_sessions").notNull(),
    parkedSessions: count("parked_sessions").notNull(),
  })
  .existing();

/** Sessions that a build could not fold. */
export const parkedView = read
  .view("parked", {
    projection: text("projection").notNull(),
    version: integer("version").notNull(),
    build: integer("build").notNull(),
    sessionId: text("session_id").notNull(),
    seq: count("seq"),
    errorCode: text("error_code"),
    attempts: integer("attempts").notNull(),
    nextAt: instant("next_at"),
    parkedAt: instant("parked_at"),
    failedAt: instant("failed_at"),
  })
  .existing();

export type SessionListRow = typeof sessionsView.$inferSelect;
export type MessageRow = typeof messagesView.$inferSelect;
export type UsageRow = typeof usageView.$inferSelect;
export type TokenStatsRow = typeof tokenStatsView.$inferSelect;
export type TitleRow = typeof titlesView.$inferSelect;
