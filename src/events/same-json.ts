/** Equality of JSON values whatever the order of their keys, however deep. */
import { isJsonArray, isJsonObject, type JsonValue } from "./json.ts";

export function isSameJson(one: JsonValue, other: JsonValue): boolean {
  const pending: [JsonValue, JsonValue][] = [[one, other]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (isJsonArray(a) && isJsonArray(b)) {
      if (a.length !== b.length) return false;
      for (const [at, item] of a.entries()) pending.push([item, b[at] ?? null]);
    } else if (isJsonObject(a) && isJsonObject(b)) {
      const keys = Object.keys(a);
      if (keys.length !== Object.keys(b).length) return false;
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false;
        pending.push([a[key] ?? null, b[key] ?? null]);
      }
    } else return false;
  }
  return true;
}
