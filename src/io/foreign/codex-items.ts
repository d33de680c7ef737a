/** Response items of a Codex rollout: what goes into a request and what comes out of it. */
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
import { anyTextAt, fieldAt, listAt, textAt } from "./fields.ts";
import { translateContent } from "./foreign-blocks.ts";

export type CodexItem =
  | {
      readonly kind: "input";
      readonly role: string;
      readonly content: readonly Block[];
    }
  | { readonly kind: "output"; readonly content: readonly Block[] }
  | {
      readonly kind: "result";
      readonly callId: string;
      readonly content: readonly Block[];
      readonly isError: boolean | undefined;
    }
  | { readonly kind: "unknown"; readonly type: string };

export function readCodexItem(
  item: JsonObject,
  notes: ConversionNotes,
  line: number,
): CodexItem {
  const type = textAt(item, "type") ?? "none";
  switch (type) {
    case "message":
      return readMessage(item, notes, line);
    case "reasoning":
      return outputOf(readReasoning(item, notes, line));
    case "function_call":
      return callOf(item, anyTextAt(item, "arguments"));
    case "custom_tool_call":
      return callOf(item, anyTextAt(item, "input"));
    case "local_shell_call":
      return callOf(
        { ...item, name: "local_shell" },
        stringifyJson(fieldAt(item, "action") ?? {}),
      );
    case "web_search_call":
      // The provider searches by itself: no result of ours answers it.
      return outputOf({ ...item, type });
    case "function_call_output":
    case "custom_tool_call_output":
      return readResult(item, notes, line);
    default:
      return { kind: "unknown", type };
  }
}

function outputOf(block: Block): CodexItem {
  return { kind: "output", content: [block] };
}

function callOf(item: JsonObject, args: string): CodexItem {
  const id = textAt(item, "call_id") ?? anyTextAt(item, "id");
  return outputOf(toolCallBlock(id, anyTextAt(item, "name"), args));
}

function readMessage(
  item: JsonObject,
  notes: ConversionNotes,
  line: number,
): CodexItem {
  const content = codexBlocks(fieldAt(item, "content"), notes, line);
  const role = textAt(item, "role") ?? "none";
  return role === "assistant"
    ? { kind: "output", content }
    : { kind: "input", role, content };
}

function readReasoning(
  item: JsonObject,
  notes: ConversionNotes,
  line: number,
): Block {
  if (textAt(item, "encrypted_content") !== null)
    notes.add(line, "encrypted contents of reasoning");
  const texts = (key: string): readonly string[] =>
    listAt(item, key).map((part) => anyTextAt(part, "text"));
  const content = texts("content");
  const shown = content.length > 0 ? content : texts("summary");
  return reasoningBlock(shown.join("\n\n"));
}

function readResult(
  item: JsonObject,
  notes: ConversionNotes,
  line: number,
): CodexItem {
  const output = fieldAt(item, "output");
  const success = fieldAt(output, "success");
  const content = fieldAt(output, "content") ?? output;
  return {
    kind: "result",
    callId: anyTextAt(item, "call_id"),
    content: codexBlocks(content, notes, line),
    isError: typeof success === "boolean" ? !success : undefined,
  };
}

function codexBlocks(
  content: JsonValue | undefined,
  notes: ConversionNotes,
  line: number,
): readonly Block[] {
  const translate = (block: JsonValue): Block | undefined => {
    switch (anyTextAt(block, "type")) {
      case "input_text":
      case "output_text":
        return textBlock(anyTextAt(block, "text"));
      case "input_image": {
        notes.add(line, "images, of which the bytes are not kept");
        const url = anyTextAt(block, "image_url");
        return placeholder("image", /^data:([^;,]+)/.exec(url)?.[1] ?? null);
      }
      default:
        return undefined;
    }
  };
  return translateContent(content, translate, notes, line);
}
