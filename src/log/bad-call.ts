/** Errors about a call itself: an argument that can't be meant. Nothing was read or stored. */
import { EventInvalidError } from "../errors.ts";
import { isSeq } from "../events/json.ts";

export function badCall(path: string, reason: string): EventInvalidError {
  return new EventInvalidError({
    index: null,
    seq: null,
    type: null,
    rule: "call",
    path,
    reason,
  });
}

/** @throws EventInvalidError unless the value is a non-negative safe integer */
export function requireSeq(value: unknown, path: string): number {
  if (typeof value !== "number" || !isSeq(value))
    throw badCall(path, "must be a whole number from 0");
  return value;
}

/** Longest time that a timer of the platform can wait, in ms. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * A time to wait in ms; longer than a timer can wait is as long as it can.
 * @throws EventInvalidError unless the value is a number from 0
 */
export function requireTimeout(value: unknown, path: string): number {
  if (typeof value !== "number" || !(value >= 0))
    throw badCall(path, "must be a number of milliseconds from 0");
  return Math.min(value, MAX_TIMEOUT_MS);
}

/** @throws EventInvalidError unless the value is text that Postgres can hold */
export function requireText(value: unknown, path: string): string {
  if (
    typeof value !== "string" ||
    value.includes("\0") ||
    !value.isWellFormed()
  )
    throw badCall(path, "must be well-formed text without NUL");
  return value;
}

/** @throws EventInvalidError unless the value is an array */
export function requireList<T>(
  value: readonly T[],
  path: string,
): readonly T[] {
  if (!Array.isArray(value)) throw badCall(path, "must be an array");
  return value;
}
