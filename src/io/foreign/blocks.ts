/** Content blocks of our vocabulary, and what stands for content that a log can't hold. */
import { member } from "../../events/event.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../events/json.ts";
import { anyTextAt, textAt } from "./fields.ts";

export type Block = JsonObject & { readonly type: string };

export function textBlock(text: string): Block {
  return { type: "text", text };
}

export function reasoningBlock(text: string): Block {
  return { type: "reasoning", text };
}

/** @param args JSON text as the model wrote it, valid or not */
export function toolCallBlock(id: string, name: string, args: string): Block {
  return { type: "tool-call", id, name, arguments: args };
}

/** A log holds no bytes, and our image block names an attachment that a transcript doesn't have. */
export function placeholder(kind: string, mediaType: string | null): Block {
  return textBlock(`[${kind}${mediaType === null ? "" : `: ${mediaType}`}]`);
}

/** Types whose meaning in our vocabulary another format's block must not take. */
const OURS: ReadonlySet<string> = new Set([
  "text",
  "reasoning",
  "image",
  "tool-call",
  "tool-result",
]);

/** A block nobody here knows, as it is: our vocabulary is open. Null when it can't stand in a message. */
export function foreignBlock(value: JsonValue): Block | null {
  const type = textAt(value, "type");
  if (type === null || OURS.has(type)) return null;
  return isJsonObject(value) ? { ...value, type } : null;
}

/** Text of the blocks that a model or a person wrote, to look at. */
export function textsOf(blocks: readonly Block[]): readonly string[] {
  return blocks
    .filter(({ type }) => type === "text")
    .map((block) => anyTextAt(block, "text"));
}

/** Text and reasoning of which something can be seen: what is kept of an answer that was cut off. */
export function visibleBlocks(blocks: readonly Block[]): readonly Block[] {
  return blocks.filter(
    (block) =>
      (block.type === "text" || block.type === "reasoning") &&
      anyTextAt(block, "text").trim() !== "",
  );
}

/** Ids of calls, or of the calls that results answer. */
export function idsOf(
  blocks: readonly Block[],
  type: "tool-call" | "tool-result",
): readonly string[] {
  const key = type === "tool-call" ? "id" : "toolCallId";
  return blocks.flatMap((block) => {
    const id = member(block, key);
    return block.type === type && typeof id === "string" ? [id] : [];
  });
}
