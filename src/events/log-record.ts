/** What one line of a log file holds: an event as it was parsed, or a run of deltas. */
import type { CheckedRun } from "./expand-runs.ts";
import type { JsonObject } from "./json.ts";

export type LogRecord =
  | { readonly run: CheckedRun }
  /** Fresh from the parser, and nobody else's; `characters` is the length of its text, or more. */
  | { readonly event: JsonObject; readonly characters: number };

/** How many events a record stands for. */
export function eventCountOf(record: LogRecord): number {
  return "run" in record ? record.run.eventCount : 1;
}
