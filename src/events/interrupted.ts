/** What was cut short is no failure, and readers must be able to tell. */
import { member } from "./event.ts";
import type { JsonValue } from "./json.ts";

/** Error codes of results that stand for calls which were cut off or never ran. */
const INTERRUPTED_CODES: ReadonlySet<JsonValue> = new Set([
  "ABORTED",
  "ABORTED_BEFORE_DISPATCH",
  "TOOL_NOT_STARTED",
  "TOOL_OUTCOME_UNKNOWN",
]);

/** True for the data of an answer that was cancelled, or of a result whose call was cut off or never ran. */
export function isInterrupted(data: JsonValue): boolean {
  const code = member(member(data, "error"), "code");
  return (
    member(data, "interrupted") === true ||
    (code !== undefined && INTERRUPTED_CODES.has(code))
  );
}
