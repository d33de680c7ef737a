/** Content and usage of Claude Code's messages in our vocabulary. */
import type { JsonObject, JsonValue } from "../../events/json.ts";
import { stringifyJson } from "../../events/stringify-json.ts";
import {
  placeholder,
  reasoningBlock,
  textBlock,
  toolCallBlock,
  type Block,
} from "./blocks.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { anyTextAt, fieldAt, textAt } from "./fields.ts";
import { translateContent } from "./foreign-blocks.ts";
import { usageReport } from "./usage-report.ts";

export function claudeBlocks(
  content: JsonValue | undefined,
  notes: ConversionNotes,
  line: number,
): readonly Block[] {
  const translate = (block: JsonValue): Block | undefined => {
    const type = anyTextAt(block, "type");
    switch (type) {
      case "text":
        return textBlock(anyTextAt(block, "text"));
      case "thinking":
        if (textAt(block, "signature") !== null)
          notes.add(line, "signatures that providers gave to blocks");
        return reasoningBlock(anyTextAt(block, "thinking"));
      case "tool_use": {
        const args = stringifyJson(fieldAt(block, "input") ?? {});
        const name = anyTextAt(block, "name");
        return toolCallBlock(anyTextAt(block, "id"), name, args);
      }
      case "image":
      case "document":
        notes.add(line, `${type}s, of which the bytes are not kept`);
        return placeholder(type, textAt(block, "source", "media_type"));
      default:
        return undefined;
    }
  };
  return translateContent(content, translate, notes, line);
}

/** Anthropic's buckets are disjoint: input is what no cache took part in. */
export function claudeUsage(
  usage: JsonValue | undefined,
  notes: ConversionNotes,
  line: number,
): JsonObject | null {
  const reported = {
    inputTokens: fieldAt(usage, "input_tokens"),
    outputTokens: fieldAt(usage, "output_tokens"),
    cacheReadTokens: fieldAt(usage, "cache_read_input_tokens"),
    cacheWriteTokens: fieldAt(usage, "cache_creation_input_tokens"),
    reasoningTokens: fieldAt(usage, "output_tokens_details", "thinking_tokens"),
  };
  return usageReport(reported, notes, line);
}
