/** The harness' own estimate of the tokens of a message: a quarter of its characters, and some for each part. */
import { stringifyJson } from "../../events/stringify-json.ts";
import type { Block } from "./blocks.ts";
import { anyTextAt, listAt } from "./fields.ts";
import type { JsonValue } from "../../events/json.ts";

const CHARACTERS_PER_TOKEN = 4;
const PART = 4;

export function estimateTokens(content: readonly Block[]): number {
  return content.reduce((sum, block) => sum + tokensOf(block), PART);
}

function tokensOf(block: JsonValue): number {
  const text = (key: string): number => quarter(anyTextAt(block, key).length);
  switch (anyTextAt(block, "type")) {
    case "text":
    case "reasoning":
      return text("text") + PART;
    case "tool-call":
      return text("name") + text("arguments") + PART;
    case "tool-result":
      return listAt(block, "content").reduce<number>(
        (sum, inner) => sum + tokensOf(inner),
        PART,
      );
    default:
      return quarter(stringifyJson(block).length) + PART;
  }
}

function quarter(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
