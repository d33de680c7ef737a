/** Checks one event's envelope and shape, and takes its data over. */
import { parseSurfaceOp, type SurfaceOp } from "./surface.ts";
import type { NewEvent } from "./event.ts";
import {
  detachJson,
  MAX_JSON_DEPTH,
  NotLosslessError,
} from "./lossless-json.ts";
import { keyOrderOf } from "./key-order.ts";
import { isSeq, type JsonObject, type JsonValue } from "./json.ts";
import { checkMessageShape } from "./message-shapes.ts";
import { RuleViolation } from "./rule-violation.ts";
import {
  isKnownType,
  isRetiredType,
  isStorageTag,
  isSurfaceType,
} from "./vocabulary.ts";

/** An event that may be stored: detached from the caller, every rule of its own checked. */
export interface CheckedEvent {
  readonly type: string;
  /** Null where the caller leaves it to the store. */
  readonly time: number | null;
  readonly data: JsonValue;
  readonly ignorable: boolean;
  readonly surfaceOp: SurfaceOp | null;
  readonly sourceEventSeqs: readonly number[] | null;
  /** See `keyOrderOf`. */
  readonly keyOrder: string | null;
  /** Seq that the caller gave; null where it left that to the store. */
  readonly givenSeq: number | null;
}

const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  "type",
  "seq",
  "time",
  "data",
  "ignorable",
  "surfaceOp",
  "sourceEventSeqs",
]);

/** An event before anything is known of it. */
export type UncheckedEvent = { readonly [K in keyof NewEvent]?: unknown };

/**
 * Checks an event that is to become number `seq` of its session.
 * @throws RuleViolation naming the rule and the path.
 */
export function checkEvent(event: UncheckedEvent, seq: number): CheckedEvent {
  const checked = takeEvent(event);
  placeEvent(checked, seq);
  return checked;
}

/**
 * Checks an event as far as that goes without its seq, and takes it over: what the caller does to it afterwards
 * changes nothing.
 * @param take makes the event's data ours; by default by copying it
 * @throws RuleViolation
 */
export function takeEvent(
  event: UncheckedEvent,
  take: () => JsonValue = () => detach(event.data, "data"),
): CheckedEvent {
  if (typeof event !== "object" || event === null)
    return fail("envelope-keys", "", "is no object");
  for (const key of Object.keys(event)) {
    if (!ENVELOPE_KEYS.has(key))
      fail("envelope-keys", key, "is not a key of an event");
  }
  const type = checkType(event.type);
  const givenSeq = checkGivenSeq(event.seq);
  const time = checkTime(event.time);
  if (event.ignorable !== undefined && event.ignorable !== true)
    fail("ignorable", "ignorable", "must be true or absent");
  if (!Object.hasOwn(event, "data")) fail("data", "data", "must be present");
  const data = take();
  const surface = checkSurface(type, event);
  checkMessageShape(type, data);
  checkRetired(type, data);
  const ignorable = event.ignorable === true;
  return {
    type,
    time,
    data,
    ignorable,
    ...surface,
    keyOrder: keyOrderOf(event),
    givenSeq,
  };
}

/**
 * The same for an event that is fresh from the parser and nobody else's: it is not copied. Its numbers must be known to be
 * kept.
 * @param characters length of its JSON text; only a long one can be nested too deep
 * @throws RuleViolation
 */
export function takeParsedEvent(
  event: JsonObject,
  characters: number,
): CheckedEvent {
  const { data = null } = event;
  const isShallow = characters < 2 * MAX_JSON_DEPTH;
  return takeEvent(event, isShallow ? () => data : undefined);
}

/**
 * Checks what rests on the seq that the event gets.
 * @throws RuleViolation
 */
export function placeEvent(event: CheckedEvent, seq: number): void {
  const { givenSeq, sourceEventSeqs } = event;
  if (givenSeq !== null && givenSeq !== seq)
    fail("seq", "seq", `is ${givenSeq}, but seq ${seq} comes next`);
  for (const [at, source] of (sourceEventSeqs ?? []).entries()) {
    if (source >= seq)
      fail(
        "sources",
        `sourceEventSeqs[${at}]`,
        `is ${source}, but must be below the event's own seq ${seq}`,
      );
  }
}

function checkGivenSeq(seq: unknown): number | null {
  if (seq === undefined) return null;
  if (typeof seq !== "number")
    return fail("seq", "seq", `is ${typeof seq}, but must be a seq`);
  return seq;
}

function checkType(type: unknown): string {
  if (typeof type !== "string" || type === "")
    return fail("type", "type", "must be a non-empty string");
  if (isKnownType(type)) return type;
  // A line feed separates rows on their way to the database; a NUL can't be stored in text.
  if (/\p{Cc}/u.test(type) || !type.isWellFormed())
    fail("type", "type", "must not hold control characters");
  if (isStorageTag(type))
    fail(
      "type",
      "type",
      `is ${type}, which names packed rows and never an event`,
    );
  return type;
}

function checkTime(time: unknown): number | null {
  if (time === undefined) return null;
  if (
    typeof time !== "number" ||
    !Number.isSafeInteger(time) ||
    Object.is(time, -0)
  )
    return fail("time", "time", "must be a safe integer of epoch ms");
  return time;
}

function checkRetired(type: string, data: JsonValue): void {
  if (isRetiredType(type))
    fail("retired-type", "type", `is ${type}, which is retired`);
  if (
    type === "request/header" &&
    Object.entries(data ?? {}).some(
      ([key, v]) => key === "reason" && v === "fallback",
    )
  )
    fail("retired-type", "data.reason", 'is "fallback", which is retired');
}

type SurfaceMetadata = Pick<CheckedEvent, "surfaceOp" | "sourceEventSeqs">;

function checkSurface(type: string, event: UncheckedEvent): SurfaceMetadata {
  const { surfaceOp, sourceEventSeqs } = event;
  if (!isSurfaceType(type)) {
    if (surfaceOp !== undefined)
      fail("surface-op-forbidden", "surfaceOp", `must be absent on ${type}`);
    if (sourceEventSeqs !== undefined)
      fail(
        "surface-op-forbidden",
        "sourceEventSeqs",
        `must be absent on ${type}`,
      );
    return { surfaceOp: null, sourceEventSeqs: null };
  }
  if (surfaceOp === undefined)
    fail("surface-op-missing", "surfaceOp", `must be present on ${type}`);
  const parsed = parseSurfaceOp(detach(surfaceOp, "surfaceOp"));
  if (parsed === null)
    return fail(
      "surface-op",
      "surfaceOp",
      'must be "append" or exactly { op: "replace", start, end } with seqs',
    );
  return {
    surfaceOp: parsed,
    sourceEventSeqs: checkSources(type, sourceEventSeqs),
  };
}

function checkSources(
  type: string,
  sources: unknown,
): readonly number[] | null {
  if (sources === undefined) return null;
  if (!Array.isArray(sources))
    return fail("sources", "sourceEventSeqs", "must be an array");
  if (sources.length === 0 && type !== "assistant/message")
    fail(
      "sources",
      "sourceEventSeqs",
      "may be empty on assistant/message only",
    );
  const copy: number[] = [];
  for (const [at, source] of sources.entries())
    copy.push(checkSource(source, at));
  refuseRepeated(copy);
  return copy;
}

function checkSource(source: unknown, at: number): number {
  if (typeof source !== "number" || !isSeq(source))
    return fail(
      "sources",
      `sourceEventSeqs[${at}]`,
      "must be a non-negative safe integer",
    );
  return source;
}

/** Long lists nearly always ascend, and then nothing can be there twice. */
function refuseRepeated(sources: readonly number[]): void {
  if (
    sources.every(
      (source, at) => at === 0 || source > (sources[at - 1] ?? source),
    )
  )
    return;
  const seen = new Set<number>();
  for (const [at, source] of sources.entries()) {
    if (seen.has(source))
      fail("sources", `sourceEventSeqs[${at}]`, `repeats ${source}`);
    seen.add(source);
  }
}

function detach(value: unknown, at: string): JsonValue {
  try {
    return detachJson(value);
  } catch (error) {
    if (error instanceof NotLosslessError)
      return fail("lossless-json", `${at}${error.path}`, error.reason);
    throw error;
  }
}

function fail(rule: string, path: string, reason: string): never {
  throw new RuleViolation(rule, path, reason);
}
