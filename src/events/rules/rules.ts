/**
 * The rules that tie an event to the ones before it, and the state they need from the past. One implementation for
 * appends, imports and checks: what an append passes, a later check finds nothing wrong with.
 */
import type { SessionHeader } from "../header.ts";
import { RuleViolation } from "../rule-violation.ts";
import {
  applyCompaction,
  compactionAsNamed,
  initCompaction,
  type CompactionState,
} from "./compaction.ts";
import { applyGoals, goalAsNamed, type GoalState } from "./goals.ts";
import {
  applyInbox,
  inboxAsNamed,
  initInbox,
  type InboxState,
} from "./inbox.ts";
import {
  applyInteraction,
  initInteraction,
  type InteractionState,
} from "./interaction.ts";
import {
  applyRetries,
  initRetries,
  retriesAsNamed,
  type RetriesState,
} from "./retries.ts";
import type { RuleEvent } from "./rule-event.ts";
import { applyTools, initTools, type ToolsState } from "./tools.ts";
import {
  applyTurns,
  initTurns,
  turnsAsNamed,
  type TurnsState,
} from "./turns.ts";

/** Version of the rules and of the state they keep; a state of a lower version is computed again from the log. */
export const RULES_VERSION = 1;

/** Small, immutable, and survives JSON. */
export interface RulesState {
  readonly seedLength: number;
  /** Events on the surface so far, replacements included. */
  readonly surfaceEvents: number;
  readonly turns: TurnsState;
  readonly tools: ToolsState;
  readonly compaction: CompactionState;
  readonly retries: RetriesState;
  readonly interaction: InteractionState;
  readonly inbox: InboxState;
  readonly goal: GoalState | null;
}

/** State of a session without events. */
export function initRules(
  header: Pick<SessionHeader, "seedLength">,
): RulesState {
  return {
    seedLength: header.seedLength ?? 0,
    surfaceEvents: 0,
    turns: initTurns,
    tools: initTools,
    compaction: initCompaction,
    retries: initRetries,
    interaction: initInteraction,
    inbox: initInbox,
    goal: null,
  };
}

/** The state after an event, and every rule it breaks. */
export interface Verdict {
  readonly state: RulesState;
  readonly violations: readonly RuleViolation[];
}

/**
 * Checks an event against the state before it. Where a rule is broken, the state goes on as the event says, so that
 * one slip is not reported again with every event after it.
 */
export function followRules(state: RulesState, event: RuleEvent): Verdict {
  const open = state.turns;
  const violations: RuleViolation[] = [];
  const follow = <S>(apply: () => S, otherwise: () => S): S => {
    try {
      return apply();
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      violations.push(error);
      return otherwise();
    }
  };
  // Most events are deltas, and they only have to stand in their step.
  if (event.type === "assistant/chunk" && state.compaction.claim === null) {
    const turns = follow(
      () => applyTurns(open, event),
      () => turnsAsNamed(open, event),
    );
    return {
      state: violations.length === 0 ? state : { ...state, turns },
      violations,
    };
  }
  const next: RulesState = {
    seedLength: state.seedLength,
    surfaceEvents: state.surfaceEvents + (event.surfaceOp === null ? 0 : 1),
    turns: follow(
      () => applyTurns(open, event),
      () => turnsAsNamed(open, event),
    ),
    tools: follow(
      () => applyTools(state.tools, event),
      () => state.tools,
    ),
    compaction: follow(
      () => applyCompaction(state.compaction, event, open),
      () => compactionAsNamed(state.compaction, event),
    ),
    retries: follow(
      () => applyRetries(state.retries, event, open),
      () => retriesAsNamed(state.retries, event),
    ),
    interaction: follow(
      () => applyInteraction(state.interaction, event, open),
      () => state.interaction,
    ),
    inbox: follow(
      () => applyInbox(state.inbox, event, state.seedLength),
      () => inboxAsNamed(state.inbox, event),
    ),
    goal: follow(
      () => applyGoals(state.goal, event),
      () => goalAsNamed(state.goal, event),
    ),
  };
  return { state: next, violations };
}
