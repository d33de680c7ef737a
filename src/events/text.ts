/** Text for columns that people query: what Postgres text can't hold is replaced, and only there. */
import { member } from "./event.ts";
import { isJsonArray, type JsonValue } from "./json.ts";

/** Replaces NUL and lone surrogates by U+FFFD. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

/** The same for a value that may be a string; null where it is none. */
export function storableTextOrNull(
  value: JsonValue | undefined,
): string | null {
  return typeof value === "string" ? storableText(value) : null;
}

/** Readable text of content blocks, those inside tool results included; blocks on lines of their own. */
export function textOfContent(content: JsonValue | undefined): string {
  const parts: string[] = [];
  const collect = (blocks: JsonValue | undefined): void => {
    if (blocks === undefined || !isJsonArray(blocks)) return;
    for (const block of blocks) {
      const text = member(block, "text");
      if (member(block, "type") === "text" && typeof text === "string")
        parts.push(text);
      if (member(block, "type") === "tool-result")
        collect(member(block, "content"));
    }
  };
  collect(content);
  return storableText(parts.join("\n"));
}
