/** Takes over what an append is made of: checked by itself, and no longer the caller's. */
import { deltaRunOf, type DeltaRun } from "../events/delta-run.ts";
import {
  takeEvent,
  takeParsedEvent,
  type CheckedEvent,
  type UncheckedEvent,
} from "../events/envelope.ts";
import type { NewEvent } from "../events/event.ts";
import { firstOf } from "../events/expand-runs.ts";
import { DeltaGatherer } from "../events/gather-deltas.ts";
import { eventCountOf, type LogRecord } from "../events/log-record.ts";
import { checkData } from "../events/schemas/check-data.ts";
import { badCall } from "./bad-call.ts";
import { MAX_RUN_EVENTS } from "./encode-append.ts";
import { located } from "./located.ts";

/** An event, or a run of deltas. */
export type AppendItem = CheckedEvent | DeltaRun;

/**
 * Checks what each event is by itself, its envelope and the shape of its data, and takes it over: a later change by the
 * caller changes nothing. Deltas that follow one another become runs.
 * @param firstSeq for the error; null where it is not known yet
 * @throws EventInvalidError for the first that breaks a rule
 */
export function takeEvents(
  events: readonly NewEvent[],
  firstSeq: number | null,
): readonly AppendItem[] {
  if (!Array.isArray(events)) throw badCall("events", "must be an array");
  const items: AppendItem[] = [];
  const deltas = new DeltaGatherer(items, MAX_RUN_EVENTS, false);
  // By number, since a hole in the list is an event that is missing.
  for (let index = 0; index < events.length; index += 1) {
    const event: NewEvent | undefined = events[index];
    if (deltas.takes(event ?? {})) continue;
    deltas.end();
    const seq = firstSeq === null ? null : firstSeq + index;
    items.push(located(event?.type, index, seq, () => takeOne(event ?? {})));
  }
  deltas.end();
  return items;
}

/** The same, each event by itself: for whoever hands them on one by one. */
export function takeEach(
  events: readonly NewEvent[],
  firstSeq: number | null,
): readonly CheckedEvent[] {
  if (!Array.isArray(events)) throw badCall("events", "must be an array");
  return Array.from(events, (event: NewEvent | undefined, index) => {
    const seq = firstSeq === null ? null : firstSeq + index;
    return located(event?.type, index, seq, () => takeOne(event ?? {}));
  });
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
  const items: AppendItem[] = [];
  const deltas = new DeltaGatherer(items, MAX_RUN_EVENTS, true);
  let seq = firstSeq;
  for (const record of records) {
    const at = seq;
    seq += eventCountOf(record);
    if ("event" in record && deltas.takes(record.event)) continue;
    deltas.end();
    const type = "run" in record ? record.run.type : record.event["type"];
    items.push(located(type, at - firstSeq, at, () => takeRecord(record)));
  }
  deltas.end();
  return items;
}

function takeOne(event: UncheckedEvent): CheckedEvent {
  const checked = takeEvent(event);
  checkData(checked.type, checked.data);
  return checked;
}

function takeRecord(record: LogRecord): AppendItem {
  if ("run" in record) {
    const { type, data } = firstOf(record.run);
    checkData(type, data);
    return deltaRunOf(record.run);
  }
  const checked = takeParsedEvent(record.event, record.characters);
  checkData(checked.type, checked.data);
  return checked;
}
