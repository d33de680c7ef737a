/** The tool calls of an answer and the results that answer them, each known by its id. */
import { member } from "./event.ts";
import type { JsonValue } from "./json.ts";
import { isBlock, type Message } from "./message.ts";
import { withoutReplayState } from "./provider-content.ts";

/** Ids of an answer's tool calls, in order; none for other messages. A call without an id has the empty one. */
export function callIdsOf({ role, content }: Message): string[] {
  if (role !== "assistant") return [];
  return content
    .filter((block) => isBlock(block, "tool-call"))
    .map((call) => textOrEmpty(member(call, "id")));
}

/** Id of the call that a message of one tool result answers; null for other messages. */
export function resultIdOf({ role, content }: Message): string | null {
  const [block] = content;
  return role !== "assistant" &&
    content.length === 1 &&
    isBlock(block, "tool-result")
    ? textOrEmpty(member(block, "toolCallId"))
    : null;
}

/** The answer with these ids of its calls. What the adapter noted about it may name the old ones, and is dropped. */
export function withCallIds(message: Message, ids: readonly string[]): Message {
  const current = callIdsOf(message);
  if (ids.every((id, at) => id === current[at])) return message;
  let at = 0;
  const content = message.content.map((block) => {
    if (!isBlock(block, "tool-call")) return block;
    const id = ids[at] ?? "";
    at += 1;
    return { ...block, id };
  });
  return { ...message, content, source: withoutReplayState(message.source) };
}

/** The result for the call of this id. */
export function withResultId(message: Message, id: string): Message {
  const { source } = message;
  const isNamed = source["kind"] !== "tool" || source["callId"] === id;
  if (resultIdOf(message) === id && isNamed) return message;
  const content = message.content.map((block) =>
    isBlock(block, "tool-result") ? { ...block, toolCallId: id } : block,
  );
  return {
    ...message,
    content,
    source: isNamed ? source : { ...source, callId: id },
  };
}

/** Stands for a result that the log does not have. */
export function missingResult(id: string): Message {
  const text =
    "No result of this tool call is on record, so its outcome is unknown: it may have run in whole, in part or not " +
    "at all. Check what it would have changed before calling it again.";
  return {
    id: `missing-tool-result-${id}`,
    role: "user",
    content: [
      {
        type: "tool-result",
        toolCallId: id,
        content: [{ type: "text", text }],
        isError: true,
      },
    ],
    source: { kind: "tool", callId: id },
  };
}

function textOrEmpty(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
