/** Reads events that are deltas and nothing more, at a fraction of what checking and copying any event costs. */
import type { UncheckedEvent } from "./envelope.ts";
import type { RunBlock } from "./expand-runs.ts";
import { isJsonNumber, isSeq } from "./json.ts";
import { isOrdinal } from "./schemas/fields.ts";
import type { StorageTag } from "./vocabulary.ts";

/** Everything that such an event has. */
export interface PlainDelta extends RunBlock {
  readonly tag: StorageTag;
  readonly text: string;
  /** Null where they are left to the store. */
  readonly seq: number | null;
  readonly time: number | null;
}

/**
 * Returns null for an event that is anything else, or that may be: it takes the way of all events. For one that is read,
 * every check of an event by itself passes, and a run gives back its JSON text. Each property is read once, so that no
 * getter can give another value later.
 * @param isFresh it comes from the JSON parser
 */
export function readPlainDelta(
  event: UncheckedEvent,
  isFresh: boolean,
): PlainDelta | null {
  if (!isPlain(event, isFresh) || !hasEnvelopeKeys(event)) return null;
  const { type, seq: givenSeq, time: givenTime, data } = event;
  if (type !== "assistant/chunk" || !isBag(data) || !isPlain(data, isFresh))
    return null;
  if (givenSeq !== undefined && !isSeq(givenSeq)) return null;
  if (givenTime !== undefined && !isTime(givenTime)) return null;
  const seq = givenSeq ?? null;
  const time = givenTime ?? null;
  if (!keysAre(data, DATA_KEYS)) return null;
  const { turn, step, chunk } = data;
  if (!isOrdinal(turn) || !isOrdinal(step)) return null;
  if (!isBag(chunk) || !isPlain(chunk, isFresh)) return null;
  const { type: kind, index } = chunk;
  if (!isJsonNumber(index)) return null;
  if (kind === "tool-call-delta") {
    const isNamed = keysAre(chunk, NAMED_CALL_KEYS);
    if (!isNamed && !keysAre(chunk, CALL_KEYS)) return null;
    const { id, argumentsDelta: text } = chunk;
    const name = isNamed ? chunk["name"] : null;
    if (typeof id !== "string" || typeof text !== "string") return null;
    if (name !== null && typeof name !== "string") return null;
    const tag = "tool-call-chunks";
    return { tag, turn, step, index, id, name, text, seq, time };
  }
  if (kind !== "text-delta" && kind !== "reasoning-delta") return null;
  const { text } = chunk;
  if (!keysAre(chunk, TEXT_KEYS) || typeof text !== "string") return null;
  const tag = kind === "text-delta" ? "text-chunks" : "reasoning-chunks";
  return { tag, turn, step, index, id: null, name: null, text, seq, time };
}

type Bag = Readonly<Record<string, unknown>>;

const DATA_KEYS = ["turn", "step", "chunk"];
const TEXT_KEYS = ["type", "index", "text"];
const CALL_KEYS = ["type", "index", "id", "argumentsDelta"];
const NAMED_CALL_KEYS = ["type", "index", "id", "name", "argumentsDelta"];
const ENVELOPE_KEYS = ["type", "seq", "time", "data"];

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null;
}

/** An object literal without hidden or symbol keys. */
function isPlain(value: object, isFresh: boolean): boolean {
  return (
    isFresh ||
    (Object.getPrototypeOf(value) === Object.prototype &&
      Object.getOwnPropertyNames(value).length === Object.keys(value).length &&
      Object.getOwnPropertySymbols(value).length === 0)
  );
}

/** Type and data, maybe seq and time, and where all are there, in this order. */
function hasEnvelopeKeys(event: object): boolean {
  const keys = Object.keys(event);
  return keys.length === ENVELOPE_KEYS.length
    ? keysAre(event, ENVELOPE_KEYS)
    : keys.every((key) => ENVELOPE_KEYS.includes(key));
}

function keysAre(value: object, expected: readonly string[]): boolean {
  const keys = Object.keys(value);
  return (
    keys.length === expected.length &&
    keys.every((key, at) => key === expected[at])
  );
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}
