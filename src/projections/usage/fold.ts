/** Token usage: one fact for each request attempt, never summed here, so that totals can't drift from facts. */
import { member } from "../../events/event.ts";
import type { SessionHeader } from "../../events/header.ts";
import { seqOrNull, type JsonValue } from "../../events/json.ts";
import { storableTextOrNull } from "../../events/text.ts";
import {
  readUsage,
  usageOfEvent,
  type TokenUsage,
} from "../../events/token-usage.ts";
import type { ProjectedEvent, Rows } from "../../projector/projection.ts";
import {
  attemptFor,
  attemptToSettle,
  type Attempt,
  type Place,
} from "./attempts.ts";
import type { usageTable } from "./tables.ts";

interface Route {
  readonly provider: string | null;
  readonly model: string | null;
}

export interface UsageState {
  /** Events below this are the parent's. */
  readonly seedLength: number;
  /** Of the latest request header. */
  readonly route: Route;
  readonly open: Place;
  readonly attempt: Attempt | null;
}

type UsageRows = Rows<{ readonly usage: typeof usageTable }>;

export const initUsage = (header: SessionHeader): UsageState => ({
  seedLength: header.seedLength ?? 0,
  route: { provider: null, model: null },
  open: { turn: null, step: null },
  attempt: null,
});

export function applyUsage(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  switch (event.type) {
    case "turn/start":
    case "turn/end":
    case "step/start":
    case "step/end":
      return applyBracket(state, event, rows);
    case "request/header":
      return {
        ...state,
        route: routeOf(member(member(event.data, "header"), "config")),
      };
    case "assistant/chunk":
      return applyChunk(state, event, rows);
    case "assistant/message":
      return applyMessage(state, event, rows);
    case "llm/retry":
      return applyRetry(state, event, rows);
    case "llm/retry-started":
    case "compaction/start":
      return endAttempt(state, event, rows);
    case "compaction/summary":
      return applySummary(state, event, rows);
    default:
      return state;
  }
}

/** A bracket ends the attempt in hand; one that became no message has failed. */
function applyBracket(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  giveUp(state, state.attempt, event, rows);
  const { turn, step } = placeOf(event.data);
  const open = {
    turn: event.type === "turn/end" ? null : turn,
    step: event.type === "step/start" ? step : null,
  };
  return { ...state, open, attempt: null };
}

function applyChunk(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  const attempt = attemptFor(
    state.attempt,
    placeOf(event.data),
    event,
    state.route,
  );
  if (attempt.firstSeq === event.seq) giveUp(state, state.attempt, event, rows);
  const reported = withReport(attempt, event);
  const isFinish = member(member(event.data, "chunk"), "type") === "finish";
  const next = isFinish ? { ...reported, ended: true } : reported;
  if (reported !== attempt) write(state, event, rows, next);
  return { ...state, attempt: next };
}

/** The attempt with the usage that the event reports, or the same one when it reports none. */
function withReport(attempt: Attempt, event: ProjectedEvent): Attempt {
  const usage = usageOfEvent(event);
  return usage === null
    ? attempt
    : { ...attempt, usage, seq: event.seq, timeMs: event.time };
}

/** The attempt that a message or a failure is about; when that is a new one, the one in hand has failed. */
function takeToSettle(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): Attempt {
  const attempt = attemptToSettle(
    state.attempt,
    placeOf(event.data),
    event,
    state.route,
  );
  if (attempt.firstSeq === event.seq) giveUp(state, state.attempt, event, rows);
  return attempt;
}

function applyMessage(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  const attempt = takeToSettle(state, event, rows);
  const reported = withReport(attempt, event);
  const source = routeOf(member(member(event.data, "message"), "source"));
  return settle(state, event, rows, {
    ...reported,
    ...source,
    outcome: "message",
    ended: true,
  });
}

/** The attempt in hand failed; one that left nothing at all in the log is known by this event alone. */
function applyRetry(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  const attempt = takeToSettle(state, event, rows);
  return settle(state, event, rows, {
    ...attempt,
    outcome: "failed",
    ended: true,
  });
}

function settle(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
  attempt: Attempt,
): UsageState {
  write(state, event, rows, attempt);
  return { ...state, attempt };
}

/** What comes after a retry has begun, or a compaction, is another request: an attempt without an answer has failed. */
function endAttempt(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  const { attempt } = state;
  if (attempt === null) return state;
  giveUp(state, attempt, event, rows);
  const outcome = attempt.outcome === "open" ? "failed" : attempt.outcome;
  return { ...state, attempt: { ...attempt, outcome, ended: true } };
}

/** A summary is a request of its own; it has no attempts. */
function applySummary(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
): UsageState {
  const usage = readUsage(member(event.data, "usage"));
  if (usage === null && member(event.data, "llmStreamCall") !== true)
    return state;
  rows.usage.upsert({
    ...identity(state, event.sessionId, event.seq),
    ...state.open,
    ...routeOf(event.data),
    ...countsOf(usage),
    seq: event.seq,
    attempt: null,
    kind: "compaction",
    timeMs: event.time,
  });
  return state;
}

/** Writes an attempt that will become no message any more. */
function giveUp(
  state: UsageState,
  attempt: Attempt | null,
  event: ProjectedEvent,
  rows: UsageRows,
): void {
  if (attempt?.outcome === "open")
    write(state, event, rows, { ...attempt, outcome: "failed" });
}

function write(
  state: UsageState,
  event: ProjectedEvent,
  rows: UsageRows,
  attempt: Attempt,
): void {
  const { turn, step, provider, model, seq, timeMs } = attempt;
  rows.usage.upsert({
    ...identity(state, event.sessionId, attempt.firstSeq),
    ...countsOf(attempt.usage),
    turn,
    step,
    provider,
    model,
    seq,
    timeMs,
    attempt: attempt.number,
    kind: attempt.outcome === "failed" ? "failed" : "request",
  });
}

function identity(state: UsageState, sessionId: string, firstSeq: number) {
  return { sessionId, firstSeq, inherited: firstSeq < state.seedLength };
}

const NO_COUNTS: TokenUsage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  reasoningTokens: null,
  flagged: false,
};

function countsOf(usage: TokenUsage | null): TokenUsage {
  return usage ?? NO_COUNTS;
}

function placeOf(data: JsonValue): Place {
  return {
    turn: seqOrNull(member(data, "turn")),
    step: seqOrNull(member(data, "step")),
  };
}

function routeOf(value: JsonValue | undefined): Route {
  return {
    provider: storableTextOrNull(member(value, "provider")),
    model: storableTextOrNull(member(value, "model")),
  };
}
