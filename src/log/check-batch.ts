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
import type { RuleEvent } from "../events/rules/rule-event.ts";
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
 * @throws EventInvalidError, EventTypeUnknownError
 */
export async function placeEvents(
  types: EventTypes,
  events: readonly CheckedEvent[],
  firstSeq: number,
): Promise<readonly PlacedEvent[]> {
  const placed = events.map((event, index) =>
    located(event.type, index, firstSeq + index, () => {
      placeEvent(event, firstSeq + index);
      return { ...event, seq: firstSeq + index };
    }),
  );
  for (const { type, ignorable, seq } of placed) {
    if (!ignorable && !(await types.knows(type)))
      throw new EventTypeUnknownError({ type, seq });
  }
  return placed;
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
  const { sessionId, firstSeq, events, allowFindings } = batch;
  const replaced = events.flatMap(({ surfaceOp }) =>
    typeof surfaceOp === "object" && surfaceOp !== null
      ? [surfaceOp.start]
      : [],
  );
  const surface =
    replaced.length === 0
      ? null
      : await readSurface(db, sessionId, firstSeq, replaced);
  return events.reduce(
    (state, event, index) =>
      located(event.type, index, event.seq, () => step(state, event)),
    batch.state,
  );

  function step(state: RulesState, event: RuleEvent): RulesState {
    const verdict = followRules(state, event);
    const [violation] = verdict.violations;
    if (violation !== undefined && !allowFindings) throw violation;
    followSurface(event);
    return verdict.state;
  }

  function followSurface(event: RuleEvent): void {
    try {
      surface?.add(event);
    } catch (error) {
      if (!(allowFindings && error instanceof RuleViolation)) throw error;
    }
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
