/** Changes one place of a JSON value, for tests that break one rule at a time. */
import {
  isJsonArray,
  isJsonObject,
  type JsonValue,
} from "../../src/events/json.ts";

/**
 * A copy of `value` whose member at `path` (`message.content.0.type`) is `put`; where `put` is not given, the copy
 * lacks that member. The order of keys is kept; a new one comes last.
 */
export function altered(
  value: JsonValue,
  path: string,
  put?: JsonValue,
): JsonValue {
  const [step = "", ...rest] = path.split(".");
  const change = (old: JsonValue | undefined): JsonValue | undefined =>
    rest.length === 0 ? put : altered(old ?? null, rest.join("."), put);
  if (isJsonArray(value)) {
    const before = value.slice(0, Number(step));
    const after = value.slice(Number(step) + 1);
    const changed = change(value[Number(step)]);
    return changed === undefined
      ? [...before, ...after]
      : [...before, changed, ...after];
  }
  const members = new Map(Object.entries(isJsonObject(value) ? value : {}));
  const changed = change(members.get(step));
  if (changed === undefined) members.delete(step);
  else members.set(step, changed);
  return Object.fromEntries(members);
}
