/** Messages of a pi transcript in our vocabulary. */
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

export function piBlocks(
  content: JsonValue | undefined,
  notes: ConversionNotes,
  line: number,
): readonly Block[] {
  const translate = (block: JsonValue): Block | undefined => {
    for (const key of [
      "textSignature",
      "thinkingSignature",
      "thoughtSignature",
    ]) {
      if (textAt(block, key) !== null)
        notes.add(line, "signatures that providers gave to blocks");
    }
    switch (anyTextAt(block, "type")) {
      case "text":
        return textBlock(anyTextAt(block, "text"));
      case "thinking":
        return reasoningBlock(anyTextAt(block, "thinking"));
      case "toolCall": {
        const args = stringifyJson(fieldAt(block, "arguments") ?? {});
        return toolCallBlock(
          anyTextAt(block, "id"),
          anyTextAt(block, "name"),
          args,
        );
      }
      case "image":
        notes.add(line, "images, of which the bytes are not kept");
        return placeholder("image", textAt(block, "mimeType"));
      default:
        return undefined;
    }
  };
  return translateContent(content, translate, notes, line);
}

/** Buckets are disjoint in pi too. */
export function piUsage(
  usage: JsonValue | undefined,
  notes: ConversionNotes,
  line: number,
): JsonObject | null {
  const reported = {
    inputTokens: fieldAt(usage, "input"),
    outputTokens: fieldAt(usage, "output"),
    cacheReadTokens: fieldAt(usage, "cacheRead"),
    cacheWriteTokens: fieldAt(usage, "cacheWrite"),
  };
  return usageReport(reported, notes, line);
}

/** A command that the person ran, as the model gets to see it. */
export function bashText(message: JsonValue | undefined): string {
  const output = anyTextAt(message, "output");
  const exitCode = fieldAt(message, "exitCode");
  const isCancelled = fieldAt(message, "cancelled") === true;
  const rest = textAt(message, "fullOutputPath");
  return [
    `Ran \`${anyTextAt(message, "command")}\``,
    output === "" ? "(no output)" : `\`\`\`\n${output}\n\`\`\``,
    ...(isCancelled ? ["(command cancelled)"] : []),
    ...(typeof exitCode === "number" && exitCode !== 0 && !isCancelled
      ? [`Command exited with code ${exitCode}`]
      : []),
    ...(rest === null ? [] : [`[Output truncated. Full output: ${rest}]`]),
  ].join("\n");
}
