/** Blocks of a message, translated one by one, and what could not be. */
import type { JsonValue } from "../../events/json.ts";
import { foreignBlock, textBlock, type Block } from "./blocks.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { textAt } from "./fields.ts";
import { isJsonArray } from "../../events/json.ts";

/** Gives our block for one of the format's; undefined for a type that it does not know. */
export type Translate = (block: JsonValue) => Block | undefined;

/** Content as formats write it: a text, or an array of blocks. Unknown blocks stay as they are where they can. */
export function translateContent(
  content: JsonValue | undefined,
  translate: Translate,
  notes: ConversionNotes,
  line: number,
): readonly Block[] {
  if (typeof content === "string") return [textBlock(content)];
  if (content === undefined || !isJsonArray(content)) return [];
  return content.flatMap((value) => {
    const known = translate(value);
    if (known !== undefined) return [known];
    const type = textAt(value, "type") ?? "none";
    const kept = foreignBlock(value);
    if (kept !== null) {
      notes.add(line, `blocks of type ${type}, kept as they are`);
      return [kept];
    }
    notes.add(line, `blocks of type ${type}, left out`);
    return [];
  });
}
