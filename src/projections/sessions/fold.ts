/** The list row of a session: header, title, activity, counts, and the reference harness' figures. */
import { isDelta, member } from "../../events/event.ts";
import { seqOrNull } from "../../events/json.ts";
import type { SessionHeader } from "../../events/header.ts";
import { storableText } from "../../events/text.ts";
import { readTitle, type Title } from "../../events/title.ts";
import { usageOfEvent } from "../../events/token-usage.ts";
import type { ProjectedEvent, Rows } from "../../projector/projection.ts";
import {
  applyCandidates,
  initCandidates,
  isHumanPrompt,
  titleToShow,
  type TitleCandidates,
} from "./display-title.ts";
import {
  applySessionStats,
  awaitsFirstToken,
  initSessionStats,
  type SessionStatsState,
} from "../session-stats.ts";
import {
  applyTokenUsage,
  initTokenUsage,
  type TokenUsageState,
} from "./reference-token-usage.ts";
import type { sessionsTable } from "./tables.ts";

/** How full the model's context was at its latest report, and how much fits; null: not known. */
interface ModelContext {
  readonly tokens: number | null;
  readonly window: number | null;
}

export interface SessionsState {
  readonly header: SessionHeader;
  readonly title: Title | null;
  readonly candidates: TitleCandidates;
  readonly context: ModelContext;
  readonly lastPromptMs: number | null;
  readonly turnCount: number;
  readonly stepCount: number;
  readonly status: "idle" | "open" | "interrupted";
  readonly tokenUsage: TokenUsageState;
  readonly sessionStats: SessionStatsState;
}

type SessionRows = Rows<{ readonly sessions: typeof sessionsTable }>;

export const initSessions = (header: SessionHeader): SessionsState => ({
  header,
  title: null,
  candidates: initCandidates,
  context: { tokens: null, window: null },
  lastPromptMs: null,
  turnCount: 0,
  stepCount: 0,
  status: "idle",
  tokenUsage: initTokenUsage,
  sessionStats: initSessionStats,
});

export const sessionsWantDeltas = (state: SessionsState): boolean =>
  awaitsFirstToken(state.sessionStats);

export function applySessions(
  state: SessionsState,
  event: ProjectedEvent,
  rows: SessionRows,
): SessionsState {
  // A delta can only be a first token: it shows in the row when its message does.
  if (isDelta(event))
    return {
      ...state,
      sessionStats: applySessionStats(state.sessionStats, event),
    };
  const next = {
    ...applyActivity(state, event),
    candidates: applyCandidates(state.candidates, event),
    context: applyContext(state.context, event),
    tokenUsage: applyTokenUsage(state.tokenUsage, event),
    sessionStats: applySessionStats(state.sessionStats, event),
  };
  rows.sessions.upsert(rowOf(next, event));
  return next;
}

function applyActivity(
  state: SessionsState,
  event: ProjectedEvent,
): SessionsState {
  switch (event.type) {
    case "turn/start":
      return { ...state, status: "open", turnCount: state.turnCount + 1 };
    case "turn/end": {
      const isRecovered =
        member(member(event.data, "reason"), "kind") === "interrupted";
      return { ...state, status: isRecovered ? "interrupted" : "idle" };
    }
    case "step/end":
      return { ...state, stepCount: state.stepCount + 1 };
    case "user/message":
      return isHumanPrompt(event)
        ? { ...state, lastPromptMs: event.time }
        : state;
    case "session/title":
      return { ...state, title: readTitle(event.data) ?? state.title };
    default:
      return state;
  }
}

/** Everything that went into the latest request; a report that counts no input changes nothing. */
function applyContext(
  context: ModelContext,
  event: ProjectedEvent,
): ModelContext {
  if (event.type === "request/context")
    return {
      ...context,
      window: seqOrNull(member(event.data, "contextWindow")),
    };
  const usage = usageOfEvent(event);
  const counts = [
    usage?.inputTokens ?? null,
    usage?.cacheReadTokens ?? null,
    usage?.cacheWriteTokens ?? null,
  ].filter((count) => count !== null);
  return counts.length === 0
    ? context
    : { ...context, tokens: counts.reduce((sum, count) => sum + count, 0) };
}

function rowOf(state: SessionsState, event: ProjectedEvent) {
  const { header } = state;
  return {
    sessionId: event.sessionId,
    title: state.title?.title ?? null,
    titleSource: state.title?.source ?? null,
    displayTitle: titleToShow(state.title, state.candidates),
    parentSessionId: textOrNull(header.parentSession),
    origin: header.origin ?? null,
    cwd: textOrNull(header.cwd),
    createdMs: header.createdAt,
    lastPromptMs: state.lastPromptMs,
    activityMs: Math.max(
      header.createdAt,
      state.lastPromptMs ?? header.createdAt,
    ),
    lastEventMs: event.time,
    turnCount: state.turnCount,
    stepCount: state.stepCount,
    status: state.status,
    contextTokens: state.context.tokens,
    contextWindow: state.context.window,
    referenceTokenUsage: JSON.stringify(state.tokenUsage.totals),
    referenceSessionStats: JSON.stringify(state.sessionStats.stats),
    asOfSeq: event.seq,
  };
}

function textOrNull(value: string | undefined): string | null {
  return value === undefined ? null : storableText(value);
}
