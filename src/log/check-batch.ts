/** Checks a batch against the state at its expected seq: every rule that ties its events to what came before. */
import type { Queryable } from "../db/connect.ts";
import { EventTypeUnknownError } from "../errors.ts";
import { placeEvent, type CheckedEvent } from "../events/envelope.ts";
import {
  dataOfMember,
  eventCountIn,
  isDeltaRun,
  type DeltaRun,
} from "../events/delta-run.ts";
import type { SessionId } from "../events/ids.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import type { RuleEvent } from "../events/rules/rule-event.ts";
import { followRules, type RulesState } from "../events/rules/rules.ts";
import type { EventTypes } from "./event-types.ts";
import { located } from "./located.ts";
import { readSurface } from "./surface-lookup.ts";
import type { AppendItem } from "./take-events.ts";

/** A checked event and the seq it gets. */
export type PlacedEvent = CheckedEvent & { readonly seq: number };

/** A run, and the seq that its first member gets. */
type PlacedRun = DeltaRun & { readonly seq: number };

export type PlacedItem = PlacedEvent | PlacedRun;

/**
 * Gives taken events their seqs.
 * @throws EventInvalidError
 */
export function placeEvents(
  items: readonly CheckedEvent[],
  firstSeq: number,
): readonly PlacedEvent[];
export function placeEvents(
  items: readonly AppendItem[],
  firstSeq: number,
): readonly PlacedItem[];
export function placeEvents(
  items: readonly AppendItem[],
  firstSeq: number,
): readonly PlacedItem[] {
  let seq = firstSeq;
  return items.map((item) => {
    const placed = located(item.type, seq - firstSeq, seq, () =>
      isDeltaRun(item) ? placeRun(item, seq) : placeOne(item, seq),
    );
    seq += eventCountIn(item);
    return placed;
  });
}

/** Spelt out: to copy an object with a key more costs thirty times as much. */
function placeOne(event: CheckedEvent, seq: number): PlacedEvent {
  placeEvent(event, seq);
  return {
    type: event.type,
    time: event.time,
    data: event.data,
    ignorable: event.ignorable,
    surfaceOp: event.surfaceOp,
    sourceEventSeqs: event.sourceEventSeqs,
    keyOrder: event.keyOrder,
    givenSeq: event.givenSeq,
    seq,
  };
}

function placeRun(run: DeltaRun, seq: number): PlacedRun {
  const { givenSeq } = run;
  if (givenSeq !== null && givenSeq !== seq)
    throw new RuleViolation(
      "seq",
      "seq",
      `is ${givenSeq}, but seq ${seq} comes next`,
    );
  return { ...run, seq };
}

/** @throws EventTypeUnknownError */
export async function requireKnownTypes(
  types: EventTypes,
  items: readonly PlacedItem[],
): Promise<void> {
  for (const item of items) {
    if (isDeltaRun(item)) continue;
    const { type, ignorable, seq } = item;
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
  readonly items: readonly PlacedItem[];
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
  const { sessionId, firstSeq, state, items, allowFindings } = batch;
  const replaced = replacedBy(items);
  if (replaced.length === 0) return followAll(state, items, { allowFindings });
  const surface = await readSurface(db, sessionId, firstSeq, replaced);
  const look = (event: PlacedEvent): void => surface.add(event);
  return followAll(state, items, { allowFindings, look });
}

/** First seqs of the parts of the surface that events replace: with none, the state says all there is to check. */
export function replacedBy(items: readonly AppendItem[]): readonly number[] {
  const starts: number[] = [];
  for (const item of items) {
    if (isDeltaRun(item)) continue;
    const { surfaceOp } = item;
    if (typeof surfaceOp === "object" && surfaceOp !== null)
      starts.push(surfaceOp.start);
  }
  return starts;
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
  items: readonly PlacedItem[],
  { look, allowFindings }: FollowOptions,
): RulesState {
  const refuse = (violation: RuleViolation): void => {
    if (!allowFindings) throw violation;
  };
  const [first] = items;
  const firstSeq = first === undefined ? 0 : followed(first).seq;
  return items.reduce((state, item) => {
    const event = followed(item);
    return located(event.type, event.seq - firstSeq, event.seq, () => {
      const verdict = followRules(state, event);
      verdict.violations.forEach(refuse);
      if (look !== undefined && !isDeltaRun(item))
        allowing(refuse, () => look(item));
      return verdict.state;
    });
  }, before);
}

/** A run is checked by its first delta: what the rules look at is the same in all of them. */
function followed(item: PlacedItem): RuleEvent {
  if (!isDeltaRun(item)) return item;
  return {
    type: "assistant/chunk",
    seq: item.seq,
    data: dataOfMember(item, 0),
    surfaceOp: null,
    sourceEventSeqs: null,
  };
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
