/** Token counts as providers report them, told apart from garbage. */
import { member } from "./event.ts";
import { isJsonObject, isSeq, type JsonValue } from "./json.ts";

/** Buckets are disjoint, but reasoning, which is part of output. Null: not reported, or not a count. */
export interface TokenUsage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
  /** True when something was reported that can't be a count: it is left out of every sum. */
  readonly flagged: boolean;
}

/** No request uses more; a larger number is garbage, and a few of them would overflow any sum. */
const MAX_TOKENS = 1_000_000_000_000;

/** Reads a usage report; null when there is none. */
export function readUsage(value: JsonValue | undefined): TokenUsage | null {
  if (value === undefined || value === null) return null;
  const buckets = {
    inputTokens: member(value, "inputTokens"),
    outputTokens: member(value, "outputTokens"),
    cacheReadTokens: member(value, "cacheReadTokens"),
    cacheWriteTokens: member(value, "cacheWriteTokens"),
    reasoningTokens: member(value, "reasoningTokens"),
  };
  const isGarbage = (count: JsonValue | undefined): boolean =>
    count !== undefined && count !== null && countOrNull(count) === null;
  return {
    inputTokens: countOrNull(buckets.inputTokens),
    outputTokens: countOrNull(buckets.outputTokens),
    cacheReadTokens: countOrNull(buckets.cacheReadTokens),
    cacheWriteTokens: countOrNull(buckets.cacheWriteTokens),
    reasoningTokens: countOrNull(buckets.reasoningTokens),
    flagged: !isJsonObject(value) || Object.values(buckets).some(isGarbage),
  };
}

/** Usage in an event of a request: on its usage chunk, or on the message it became. */
export function usageOfEvent(event: {
  readonly type: string;
  readonly data: JsonValue;
}): TokenUsage | null {
  if (event.type === "assistant/message")
    return readUsage(member(event.data, "usage"));
  const chunk = member(event.data, "chunk");
  return event.type === "assistant/chunk" && member(chunk, "type") === "usage"
    ? readUsage(member(chunk, "usage"))
    : null;
}

function countOrNull(value: JsonValue | undefined): number | null {
  return isSeq(value) && value <= MAX_TOKENS ? value : null;
}
