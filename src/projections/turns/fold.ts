/** Turns: from one `turn/start` to its end, with the times that the steps and calls in between took. */
import { elapsedMs, storableMs } from "../../events/elapsed.ts";
import { isDelta, member } from "../../events/event.ts";
import type { SessionHeader } from "../../events/header.ts";
import { seqOrNull } from "../../events/json.ts";
import { storableTextOrNull } from "../../events/text.ts";
import type { ProjectedEvent, Rows } from "../../projector/projection.ts";
import {
  applySessionStats,
  awaitsFirstToken,
  initSessionStats,
  type SessionStatsState,
} from "../session-stats.ts";
import type { turnsTable } from "./tables.ts";

interface OpenTurn {
  readonly turn: number | null;
  readonly startSeq: number;
  readonly startedMs: number;
  /** Of this turn alone. */
  readonly stats: SessionStatsState;
}

export interface TurnsState {
  /** Events below this are the parent's. */
  readonly seedLength: number;
  readonly open: OpenTurn | null;
}

type TurnRows = Rows<{ readonly turns: typeof turnsTable }>;

export const initTurns = (header: SessionHeader): TurnsState => ({
  seedLength: header.seedLength ?? 0,
  open: null,
});

export const turnsWantDeltas = (state: TurnsState): boolean =>
  state.open !== null && awaitsFirstToken(state.open.stats);

export function applyTurns(
  state: TurnsState,
  event: ProjectedEvent,
  rows: TurnRows,
): TurnsState {
  if (event.type === "turn/start") return startTurn(state, event, rows);
  if (state.open === null) return state;
  const open = {
    ...state.open,
    stats: applySessionStats(state.open.stats, event),
  };
  // A chunk can only be a first token: it shows in the row when its message does.
  if (isDelta(event) || event.type === "assistant/chunk")
    return { ...state, open };
  const isEnd = event.type === "turn/end";
  rows.turns.upsert(rowOf(state, event, open, isEnd));
  return { ...state, open: isEnd ? null : open };
}

/** A turn that was never ended stays open in its row. */
function startTurn(
  state: TurnsState,
  event: ProjectedEvent,
  rows: TurnRows,
): TurnsState {
  const open = {
    turn: seqOrNull(member(event.data, "turn")),
    startSeq: event.seq,
    startedMs: event.time,
    stats: initSessionStats,
  };
  rows.turns.upsert(rowOf(state, event, open, false));
  return { ...state, open };
}

function rowOf(
  state: TurnsState,
  event: ProjectedEvent,
  open: OpenTurn,
  isEnd: boolean,
) {
  const { stats } = open.stats;
  const reason = member(member(event.data, "reason"), "kind");
  return {
    sessionId: event.sessionId,
    turn: open.turn,
    startSeq: open.startSeq,
    endSeq: isEnd ? event.seq : null,
    reason: isEnd ? storableTextOrNull(reason) : null,
    inherited: open.startSeq < state.seedLength,
    stepCount: stats.steps,
    startedMs: open.startedMs,
    durationMs: isEnd
      ? storableMs(elapsedMs(open.startedMs, event.time))
      : null,
    modelMs: storableMs(stats.llmMs),
    toolMs: storableMs(stats.toolMs),
    firstTokenMs: storableMs(stats.ttftMs),
    firstTokenSteps: stats.ttftSteps,
    decodeMs: storableMs(stats.decodeMs),
    decodeTokens: stats.decodeTokens,
  };
}
