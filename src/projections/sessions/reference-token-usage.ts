/**
 * The reference harness' `tokenUsage`: the last report of a step replaces the one before it, so that a
 * message does not count again what its chunk reported. Retries of a step overwrite each other by this rule.
 */
import { member } from "../../events/event.ts";
import type { JsonValue } from "../../events/json.ts";
import { usageOfEvent } from "../../events/token-usage.ts";
import type { ProjectedEvent } from "../../projector/projection.ts";

interface ReferenceTokenUsage {
  readonly uncachedInputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** The sums so far, and the last report with the turn and step it stands for. */
export interface TokenUsageState {
  readonly totals: ReferenceTokenUsage;
  readonly last:
    | (ReferenceTokenUsage & {
        readonly turn: JsonValue;
        readonly step: JsonValue;
      })
    | null;
}

const ZERO: ReferenceTokenUsage = {
  uncachedInputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};

export const initTokenUsage: TokenUsageState = { totals: ZERO, last: null };

export function applyTokenUsage(
  state: TokenUsageState,
  event: ProjectedEvent,
): TokenUsageState {
  const usage = usageOfEvent(event);
  if (usage === null) return state;
  const sample = {
    turn: member(event.data, "turn") ?? null,
    step: member(event.data, "step") ?? null,
    uncachedInputTokens: usage.inputTokens ?? 0,
    outputTokens: usage.outputTokens ?? 0,
    cacheReadTokens: usage.cacheReadTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
  };
  const { last } = state;
  const replaced =
    last !== null && last.turn === sample.turn && last.step === sample.step
      ? last
      : ZERO;
  return { totals: exchange(state.totals, replaced, sample), last: sample };
}

function exchange(
  totals: ReferenceTokenUsage,
  out: ReferenceTokenUsage,
  into: ReferenceTokenUsage,
): ReferenceTokenUsage {
  return {
    uncachedInputTokens:
      totals.uncachedInputTokens -
      out.uncachedInputTokens +
      into.uncachedInputTokens,
    outputTokens: totals.outputTokens - out.outputTokens + into.outputTokens,
    cacheReadTokens:
      totals.cacheReadTokens - out.cacheReadTokens + into.cacheReadTokens,
    cacheWriteTokens:
      totals.cacheWriteTokens - out.cacheWriteTokens + into.cacheWriteTokens,
  };
}
