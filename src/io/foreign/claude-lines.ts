/** Lines of a Claude Code transcript: which are of the conversation itself, and what kind of line one is. */
import type { JsonValue } from "../../events/json.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { fieldAt, listAt, textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { refuse } from "./refuse.ts";

/**
 * Each line once, and none of sub-agents.
 * @throws LogFileError when no message is left
 */
export function mainLines(
  lines: readonly ForeignLine[],
  notes: ConversionNotes,
): readonly ForeignLine[] {
  const seen = new Set<string>();
  const main = lines.filter(({ value, number }) => {
    const uuid = textAt(value, "uuid");
    const isRepeated = uuid !== null && seen.has(uuid);
    const isSidechain = value["isSidechain"] === true;
    if (uuid !== null) seen.add(uuid);
    if (isRepeated) notes.add(number, "repeated lines");
    else if (isSidechain) notes.add(number, "lines of sub-agents");
    return !isRepeated && !isSidechain;
  });
  if (main.some(isMessage)) return main;
  return refuse(
    lines[0]?.number ?? null,
    lines.some(isMessage)
      ? "the transcript is of a sub-agent alone; import the one that started it"
      : "no line is a message of Claude Code",
  );
}

export function isMessage({ value }: ForeignLine): boolean {
  return value["type"] === "user" || value["type"] === "assistant";
}

/** True for a user line that holds results of calls, if only beside other things. */
export function holdsResults({ value }: ForeignLine): boolean {
  return listAt(value, "message", "content").some(isResult);
}

/** True for a user line that is more than results of calls: what it follows is over. */
export function isInput({ value }: ForeignLine): boolean {
  const blocks = listAt(value, "message", "content");
  const isResults = blocks.length > 0 && blocks.every(isResult);
  return value["type"] === "user" && !isResults;
}

export function isResult(block: JsonValue): boolean {
  return fieldAt(block, "type") === "tool_result";
}
