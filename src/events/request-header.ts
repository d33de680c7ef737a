/** The envelope of a request: what `request/header` says of it. */
import { member } from "./event.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "./json.ts";
import type { JsonValue } from "./json.ts";

/** The header in the data of a `request/header` event, in canonical form; null when there is none. */
export function headerOf(data: JsonValue): JsonObject | null {
  const header = member(data, "header");
  return isJsonObject(header) ? canonicalHeader(header) : null;
}

/**
 * A header in canonical form, in which requests are compared: without an empty `system`, an empty `tools` list, or
 * `adapterDefaults` that mark nothing. What is left is as it was; a header that needs nothing is returned itself.
 */
function canonicalHeader(header: JsonObject): JsonObject {
  const kept = Object.entries(header).filter(
    ([key, value]) => !saysNothing(key, value),
  );
  return kept.length === Object.keys(header).length
    ? header
    : Object.fromEntries(kept);
}

function saysNothing(key: string, value: JsonValue): boolean {
  switch (key) {
    case "system":
      return value === "";
    case "tools":
      return value === "" || (isJsonArray(value) && value.length === 0);
    case "adapterDefaults":
      return (
        member(value, "reasoningEffort") !== true &&
        member(value, "maxTokens") !== true
      );
    default:
      return false;
  }
}
