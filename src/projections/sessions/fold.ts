/** The list row of a session: header, title, activity, counts, and the reference harness' figures. */
import { isDelta, member } from "../../events/event.ts";
import type { SessionHeader } from "../../events/header.ts";
import { storableText } from "../../events/text.ts";
import { readTitle, type Title } from "../../events/title.ts";
import type { ProjectedEvent, Rows } from "../../projector/projection.ts";
import {
  applySessionStats,
  awaitsFirstToken,
  initSessionStats,
  type SessionStatsState,
} from "./reference-session-stats.ts";
import {
  applyTokenUsage,
  initTokenUsage,
  type TokenUsageState,
} from "./reference-token-usage.ts";
import type { sessionsTable } from "./tables.ts";

export interface SessionsState {
  readonly header: SessionHeader;
  readonly title: Title | null;
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
    case "user/message": {
      const isHuman = member(member(event.data, "source"), "kind") === "user";
      return isHuman && event.surfaceOp === "append"
        ? { ...state, lastPromptMs: event.time }
        : state;
    }
    case "session/title":
      return { ...state, title: readTitle(event.data) ?? state.title };
    default:
      return state;
  }
}

function rowOf(state: SessionsState, event: ProjectedEvent) {
  const { header } = state;
  return {
    sessionId: event.sessionId,
    title: state.title?.title ?? null,
    titleSource: state.title?.source ?? null,
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
    referenceTokenUsage: JSON.stringify(state.tokenUsage.totals),
    referenceSessionStats: JSON.stringify(state.sessionStats.stats),
    asOfSeq: event.seq,
  };
}

function textOrNull(value: string | undefined): string | null {
  return value === undefined ? null : storableText(value);
}
