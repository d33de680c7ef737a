/** Checks a batch against the state at its expected seq: every rule that ties its events to what came before. */
import type { Queryable } from "../db/connect.ts";
import { EventInvalidError, EventTypeUnknownError } from "../errors.ts";
import {
  placeEvent,
  takeEvent,
  takeParsedEvent,
  type CheckedEvent,
} from "../events/envelope.ts";
import type { NewEvent } from "../events/event.ts";
import { firstOf, type CheckedRun } from "../events/expand-runs.ts";
import type { SessionId } from "../events/ids.ts";
import type { LogRecord } from "../events/log-record.ts";
import { isRun } from "../events/pack-runs.ts";
import { RuleViolation } from "../events/rule-violation.ts";
import { ruleEventOf, type RuleEvent } from "../events/rules/rule-event.ts";
import { followRules, type RulesState } from "../events/rules/rules.ts";
import { checkData } from "../events/schemas/check-data.ts";
import { badCall } from "./bad-call.ts";
import type { EventTypes } from "./event-types.ts";
import { readSurface } from "./surface-lookup.ts";

/** What an append is made of: events, and runs of deltas that are packed already, as log files have them. */
export type AppendItem = CheckedEvent | CheckedRun;

/** A checked event and the seq it gets. */
export type PlacedEvent = CheckedEvent & { readonly seq: number };

export type PlacedItem = PlacedEvent | CheckedRun;

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
 * Takes over what was read from a log file: events fresh from the parser, and packed rows. Checked as those of callers, but
 * not copied.
 * @throws EventInvalidError for the first that breaks a rule
 */
export function takeRecords(
  records: readonly LogRecord[],
  firstSeq: number,
): readonly AppendItem[] {
  let seq = firstSeq;
  return records.map((record) => {
    const type = "run" in record ? record.run.type : record.event["type"];
    const item = located(type, seq - firstSeq, seq, () => takeRecord(record));
    seq += isRun(item) ? item.eventCount : 1;
    return item;
  });
}

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
      placeItem(item, seq),
    );
    seq += isRun(item) ? item.eventCount : 1;
    return placed;
  });
}

function takeRecord(record: LogRecord): AppendItem {
  if ("run" in record) {
    const { type, data } = firstOf(record.run);
    checkData(type, data);
    return record.run;
  }
  const checked = takeParsedEvent(record.event, record.characters);
  checkData(checked.type, checked.data);
  return checked;
}

function placeItem(item: AppendItem, seq: number): PlacedItem {
  if (!isRun(item)) {
    placeEvent(item, seq);
    return { ...item, seq };
  }
  if (item.seq0 !== seq)
    throw new RuleViolation(
      "seq",
      "seq0",
      `is ${item.seq0}, but seq ${seq} comes next`,
    );
  return item;
}

/** @throws EventTypeUnknownError */
export async function requireKnownTypes(
  types: EventTypes,
  items: readonly PlacedItem[],
): Promise<void> {
  for (const item of items) {
    if (isRun(item)) continue;
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
  return items.flatMap((item) =>
    !isRun(item) &&
    typeof item.surfaceOp === "object" &&
    item.surfaceOp !== null
      ? [item.surfaceOp.start]
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
      if (look !== undefined && !isRun(item))
        allowing(refuse, () => look(item));
      return verdict.state;
    });
  }, before);
}

/** A run is checked by its first delta: what the rules look at is the same in all of them. */
function followed(item: PlacedItem): RuleEvent {
  return isRun(item) ? ruleEventOf(firstOf(item)) : item;
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
