/** Heals what one message holds: text that is no Unicode, and texts with nothing in them. */
import { member } from "./event.ts";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "./json.ts";
import { isBlock, isMessage, type Message } from "./message.ts";
import { wellFormed, wellFormedArguments } from "./provider-text.ts";

/** The message as a provider takes it, or itself; null for an answer with nothing in it. */
export function healMessage(message: Message): Message | null {
  return message.role === "assistant"
    ? withoutBlankAnswer(withWellFormedText(message))
    : healResult(message);
}

/** The same for a message that is no answer, such as a tool result: it is never empty. */
export function healResult(message: Message): Message {
  const text = withWellFormedText(message);
  const blocks = withoutBlanks(text.content, "(empty message)");
  const content = mapKeeping(blocks, withOutput);
  return content === text.content ? text : { ...text, content };
}

function withWellFormedText(message: Message): Message {
  const content = mapKeeping(message.content, withWellFormedBlock);
  const source = withoutReplayState(message.source);
  const clean = wellFormed(
    content === message.content ? message : { ...message, content, source },
  );
  return isMessage(clean) ? clean : message;
}

/** Arguments are JSON text, in which half a character can stand as an escape too. */
function withWellFormedBlock(given: JsonValue): JsonValue {
  const block = wellFormed(given);
  const text = member(block, "arguments");
  if (!isBlock(block, "tool-call") || typeof text !== "string") return block;
  const healed = wellFormedArguments(text);
  return healed === text ? block : { ...block, arguments: healed };
}

function withoutBlankAnswer(message: Message): Message | null {
  const { content, source } = message;
  if (content.every((block) => isBlank(block, "text", "reasoning")))
    return null;
  // Reasoning without text stays beside others: encrypted reasoning looks like this, and providers want it back.
  const isKept = content.map((block) => !isBlank(block, "text"));
  if (!isKept.includes(false)) return message;
  return {
    ...message,
    content: content.filter((_, at) => isKept[at] === true),
    source: withReplayOf(source, isKept),
  };
}

/** A tool result that shows something; any other block as it is. */
function withOutput(block: JsonValue): JsonValue {
  if (!isBlock(block, "tool-result")) return block;
  const given = member(block, "content");
  const output = withoutBlanks(
    given !== undefined && isJsonArray(given) ? given : [],
    "(no output)",
  );
  return output === given ? block : { ...block, content: output };
}

/** Drops blank texts; where nothing else is left, `instead` stands for all of them. */
function withoutBlanks(
  blocks: readonly JsonValue[],
  instead: string,
): readonly JsonValue[] {
  const kept = blocks.filter((block) => !isBlank(block, "text"));
  if (kept.length === 0) return [{ type: "text", text: instead }];
  return kept.length === blocks.length ? blocks : kept;
}

function isBlank(
  block: JsonValue,
  ...types: readonly ("text" | "reasoning")[]
): boolean {
  const text = member(block, "text");
  return (
    types.some((type) => isBlock(block, type)) &&
    (typeof text !== "string" || text.trim() === "")
  );
}

/** What the adapter noted of each block goes with its block; where the two don't match, all of it goes. */
function withReplayOf(
  source: JsonObject,
  isKept: readonly boolean[],
): JsonObject {
  const state = source["replayState"];
  const notes = member(state, "blocks");
  if (!isJsonObject(state) || notes === undefined) return source;
  if (!isJsonArray(notes) || notes.length !== isKept.length)
    return withoutReplayState(source);
  const blocks = notes.filter((_, at) => isKept[at] === true);
  return { ...source, replayState: { ...state, blocks } };
}

/** For an answer whose content is no longer what the adapter made its notes of. */
export function withoutReplayState(source: JsonObject): JsonObject {
  const { replayState: _outdated, ...rest } = source;
  return rest;
}

/** The list with each item mapped, or the list itself when that changes none. */
function mapKeeping(
  items: readonly JsonValue[],
  map: (item: JsonValue) => JsonValue,
): readonly JsonValue[] {
  const mapped = items.map(map);
  return mapped.every((item, at) => item === items[at]) ? items : mapped;
}
