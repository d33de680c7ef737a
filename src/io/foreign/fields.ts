/** Reads single fields of foreign lines; what is missing or of another type is null, or empty. */
import { member } from "../../events/event.ts";
import {
  isJsonArray,
  type JsonObject,
  type JsonValue,
} from "../../events/json.ts";

/** The value at the end of a path of keys. */
export function fieldAt(
  value: JsonValue | undefined,
  ...path: readonly string[]
): JsonValue | undefined {
  return path.reduce(member, value);
}

/** A string that is not empty. */
export function textAt(
  value: JsonValue | undefined,
  ...path: readonly string[]
): string | null {
  const found = fieldAt(value, ...path);
  return typeof found === "string" && found !== "" ? found : null;
}

/** A string, the empty one too; empty when there is none. */
export function anyTextAt(
  value: JsonValue | undefined,
  ...path: readonly string[]
): string {
  return textAt(value, ...path) ?? "";
}

export function listAt(
  value: JsonValue | undefined,
  ...path: readonly string[]
): readonly JsonValue[] {
  const found = fieldAt(value, ...path);
  return found !== undefined && isJsonArray(found) ? found : [];
}

/** The entries whose value is there. */
export function present(
  fields: Readonly<Record<string, JsonValue | undefined>>,
): JsonObject {
  const found: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(fields)) {
    if (value !== undefined) found[key] = value;
  }
  return found;
}

/** Epoch ms of an ISO date or of a number of ms; a date without a zone is UTC, so that every machine reads the same. */
export function timeOf(value: JsonValue | undefined): number | null {
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? value : null;
  if (typeof value !== "string") return null;
  const zoned = /(?:Z|[+-]\d{2}:?\d{2})$/.test(value) ? value : `${value}Z`;
  const time = Date.parse(zoned);
  return Number.isNaN(time) ? null : time;
}
