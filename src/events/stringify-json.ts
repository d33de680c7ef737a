/** JSON text of a value, however deep: the engine's own serialiser recurses and overflows at some thousand levels. */
import type { JsonValue } from "./json.ts";

/** The same text as `JSON.stringify(value)`, also for values nested too deep for it. The value must be JSON. */
export function stringifyJson(value: JsonValue | object): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Only the overflow of the stack: the value is JSON, so nothing else can be thrown.
    if (!(error instanceof RangeError)) throw error;
    return stringifyIteratively(value);
  }
}

/** What is still to be written, last first: text as it is, or a value to be opened. */
type Part = { readonly text: string } | { readonly value: unknown };

function stringifyIteratively(root: JsonValue | object): string {
  const out: string[] = [];
  const pending: Part[] = [{ value: root }];
  for (let part = pending.pop(); part !== undefined; part = pending.pop()) {
    if ("text" in part) out.push(part.text);
    else
      for (const inner of opened(part.value).toReversed()) pending.push(inner);
  }
  return out.join("");
}

/** The parts of one level, in order. */
function opened(value: unknown): Part[] {
  if (Array.isArray(value)) {
    const items = value.flatMap((item: unknown, at): Part[] => [
      { text: at === 0 ? "" : "," },
      { value: item },
    ]);
    return [{ text: "[" }, ...items, { text: "]" }];
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).flatMap(([key, item], at): Part[] => [
      { text: `${at === 0 ? "" : ","}${JSON.stringify(key)}:` },
      { value: item },
    ]);
    return [{ text: "{" }, ...members, { text: "}" }];
  }
  return [{ text: JSON.stringify(value) }];
}
