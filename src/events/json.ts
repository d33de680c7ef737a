/** JSON as a type: what an event's data may be. */

export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** True for a JSON object; false for null and arrays. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a JSON array. */
export function isJsonArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Parses JSON text that we wrote ourselves. */
export function parseJson(text: string): JsonValue {
  return JSON.parse(text);
}

/** True for a non-negative safe integer: a seq, a count, a time of creation. -0 is none: JSON would change it. */
export function isSeq(value: unknown): value is number {
  return (
    typeof value === "number" &&
    Number.isSafeInteger(value) &&
    value >= 0 &&
    !Object.is(value, -0)
  );
}

/** The value when it is a non-negative safe integer, else null. */
export function seqOrNull(value: JsonValue | undefined): number | null {
  return isSeq(value) ? value : null;
}

/** True for a number that JSON gives back: finite, and not -0. */
export function isJsonNumber(value: unknown): value is number {
  return (
    typeof value === "number" && Number.isFinite(value) && !Object.is(value, -0)
  );
}
