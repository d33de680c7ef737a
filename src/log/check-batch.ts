/** Checks a batch against the state at its expected seq: every rule that ties its events to what came before. */
import type { Queryable } from "../db/connect.ts";
import { EventInvalidError, EventTypeUnknownError } from "../errors.ts";
import {
  placeEvent,
  takeEvent,
  type CheckedEvent,
} from "../events/envelope.ts";
import type { NewEvent } from "../events/event.ts";
import type { SessionId } from "../events/ids.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { followRules, type RulesState } from "../events/rules/rules.ts";
import { checkData } from "../events/schemas/check-data.ts";
import { badCall } from "./bad-call.ts";
import type { EventTypes } from "./event-types.ts";
import { readSurface } from "./surface-lookup.ts";

/** A checked event and the seq it gets. */
export type PlacedEvent = CheckedEvent & { readonly seq: number };

/**
 * Checks what each event is by itself, its envelope and the shape of its data, and takes it over: a later change by the
 * caller changes nothing.
 * @param firstSeq for the error; null where it is not known yet
 * @throws EventInvalidError for the first that breaks a rule
 */
export function takeEvents(
  events: readonly NewEvent[],
  firstSeq: number | null,
): readonly CheckedEvent[] {
  if (!Array.isArray(events)) throw badCall("events", "must be an array");
  return Array.from(events, (event: NewEvent, index) =>
    located(
      event?.type,
      index,
      firstSeq === null ? null : firstSeq + index,
      () => {
        const checked = takeEvent(event ?? {});
        checkData(checked.type, checked.data);
        return checked;
      },
    ),
  );
}

/**
 * Gives taken events their seqs.
 * @throws EventInvalidError
 */
export function placeEvents(
  events: readonly CheckedEvent[],
  firstSeq: number,
): readonly PlacedEvent[] {
  return events.map((event, index) =>
    located(event.type, index, firstSeq + index, () => {
      placeEvent(event, firstSeq + index);
      return { ...event, seq: firstSeq + index };
    }),
  );
}

/** @throws EventTypeUnknownError */
export async function requireKnownTypes(
  types: EventTypes,
  events: readonly PlacedEvent[],
): Promise<void> {
  for (const { type, ignorable, seq } of events) {
    if (ignorable || types.hasMet(type)) continue;
    if (!(await types.knows(type)))
      throw new EventTypeUnknownError({ type, seq });
  }
}

export interface BatchAt {
  readonly sessionId: SessionId;
  readonly firstSeq: number;
  /** State that the log up to `firstSeq` leaves. */
  readonly state: RulesState;
  readonly events: readonly PlacedEvent[];
  /** Go on after a broken rule, with the state that the event names. */
  readonly allowFindings: boolean;
}

/**
 * Returns the state after the batch. Looks the surface up where the batch replaces part of it.
 * @throws EventInvalidError for the first event that breaks a rule
 */
export async function checkBatch(
  db: Queryable,
  batch: BatchAt,
): Promise<RulesState> {
  const { sessionId, firstSeq, state, events, allowFindings } = batch;
  const replaced = replacedBy(events);
  if (replaced.length === 0) return followAll(state, events, { allowFindings });
  const surface = await readSurface(db, sessionId, firstSeq, replaced);
  const look = (event: PlacedEvent): void => surface.add(event);
  return followAll(state, events, { allowFindings, look });
}

/** First seqs of the parts of the surface that events replace: with none, the state says all there is to check. */
export function replacedBy(
  events: readonly Pick<CheckedEvent, "surfaceOp">[],
): readonly number[] {
  return events.flatMap(({ surfaceOp }) =>
    typeof surfaceOp === "object" && surfaceOp !== null
      ? [surfaceOp.start]
      : [],
  );
}

export interface FollowOptions {
  /** Called with each event once the state lets it pass. @throws RuleViolation */
  readonly look?: (event: PlacedEvent) => void;
  readonly allowFindings: boolean;
}

/**
 * Returns the state after events that replace nothing, or whose replacements `look` checks.
 * @throws EventInvalidError for the first event that breaks a rule
 */
export function followAll(
  before: RulesState,
  events: readonly PlacedEvent[],
  { look, allowFindings }: FollowOptions,
): RulesState {
  const refuse = (violation: RuleViolation): void => {
    if (!allowFindings) throw violation;
  };
  return events.reduce(
    (state, event, index) =>
      located(event.type, index, event.seq, () => {
        const verdict = followRules(state, event);
        verdict.violations.forEach(refuse);
        if (look !== undefined) allowing(refuse, () => look(event));
        return verdict.state;
      }),
    before,
  );
}

function allowing(
  refuse: (violation: RuleViolation) => void,
  look: () => void,
): void {
  try {
    look();
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    refuse(error);
  }
}

/** Gives a violation its place in the batch. */
function located<T>(
  type: unknown,
  index: number,
  seq: number | null,
  check: () => T,
): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RuleViolation)) throw error;
    const { rule, path, reason } = error;
    throw new EventInvalidError({
      index,
      seq,
      type: typeof type === "string" ? type : null,
      rule,
      path,
      reason,
    });
  }
}
