/** A usage report in our buckets, as a provider gave it. */
import type { JsonObject, JsonValue } from "../../events/json.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { present } from "./fields.ts";

export interface ReportedUsage {
  readonly inputTokens: JsonValue | undefined;
  readonly outputTokens: JsonValue | undefined;
  readonly cacheReadTokens?: JsonValue | undefined;
  readonly cacheWriteTokens?: JsonValue | undefined;
  readonly reasoningTokens?: JsonValue | undefined;
}

/**
 * Counts that are none stay as they are: the usage projection flags them. Null when there is no report; one without
 * input or output is none, since the harness can't open a log that has it.
 */
export function usageReport(
  reported: ReportedUsage,
  notes: ConversionNotes,
  line: number,
): JsonObject | null {
  const found = present({ ...reported });
  if (Object.keys(found).length === 0) return null;
  if (reported.inputTokens !== undefined && reported.outputTokens !== undefined)
    return found;
  notes.add(line, "usage reports without input or output");
  return null;
}
