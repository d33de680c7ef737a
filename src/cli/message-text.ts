/** A message as people read it: its text, and a line for each thing that is not text. */
import { member } from "../events/event.ts";
import { isJsonArray, parseJson, type JsonValue } from "../events/json.ts";
import type { MessageRow } from "../query/views.ts";
import { printable, shorten } from "./output.ts";

/** Columns of a tool call's arguments. */
const ARGUMENTS_WIDTH = 80;

/** Reasoning is left out, unless there is nothing else. */
export function messageText(row: Pick<MessageRow, "content">): string {
  const content = parseJson(row.content);
  const blocks = isJsonArray(content) ? content : [];
  const shown = blocks.filter((block) => member(block, "type") !== "reasoning");
  return (shown.length > 0 ? shown : blocks).map(blockText).join("\n");
}

/** Who speaks: `user` for a human, `assistant`, or what injected the message. */
export function speakerOf(
  row: Pick<MessageRow, "role" | "sourceKind">,
): string {
  return row.role === "user" ? row.sourceKind : row.role;
}

function blockText(block: JsonValue): string {
  const type = text(member(block, "type"));
  switch (type) {
    case "text":
    case "reasoning":
      return text(member(block, "text"));
    case "tool-call":
      return `→ ${text(member(block, "name"))} ${shorten(text(member(block, "arguments")), ARGUMENTS_WIDTH)}`;
    case "tool-result": {
      const inner = member(block, "content");
      return inner !== undefined && isJsonArray(inner)
        ? inner.map(blockText).join("\n")
        : "";
    }
    default:
      return `[${type}]`;
  }
}

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? printable(value) : "";
}
