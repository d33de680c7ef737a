/** Makes text well-formed Unicode wherever it stands: half of a surrogate pair becomes U+FFFD. */
import { parseJson, type JsonValue } from "./json.ts";
import { stringifyJson } from "./stringify-json.ts";

/** In JSON text only lone surrogates are escaped like this, but an escaped backslash may stand before the same letters. */
const MAYBE_LONE = /\\ud[89a-f]/;
const ESCAPE = /\\(?:ud[89a-f][0-9a-f]{2}|[^])/g;

/** The value with every string in it well-formed, keys too; itself when all are. */
export function wellFormed(value: JsonValue): JsonValue {
  const text = stringifyJson(value);
  if (!MAYBE_LONE.test(text)) return value;
  const healed = text.replace(ESCAPE, (escape) =>
    escape.length === 6 ? "\uFFFD" : escape,
  );
  return healed === text ? value : parseJson(healed);
}

/** Escapes in somebody else's JSON text: whole pairs stay. */
const PAIR_OR_LONE =
  /\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|ud[89a-f][0-9a-f]{2}|[^])/gi;

/** JSON text, well-formed itself, without escapes of lone surrogates; it need not be valid. */
export function wellFormedArguments(text: string): string {
  return text.replace(PAIR_OR_LONE, (escape) =>
    escape.length === 6 ? "\uFFFD" : escape,
  );
}
