/** A message as the log holds it, and the blocks of its content. */
import { member } from "./event.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "./json.ts";
import type { JsonValue } from "./json.ts";

/** Whatever else a message has is kept, and reached by its key. */
export interface Message extends JsonObject {
  /** An identity, not a key: copies and rewrites of a message share it. */
  readonly id: string;
  /** `user`, `assistant` or `system`. Tool results are of role `user`. */
  readonly role: string;
  /** Blocks; types that no reader knows are legal. */
  readonly content: readonly JsonValue[];
  /** Who made it: `kind`, and what belongs to that kind. */
  readonly source: JsonObject;
}

/** True for what every message on the surface is. */
export function isMessage(value: JsonValue | undefined): value is Message {
  const content = member(value, "content");
  return (
    typeof member(value, "id") === "string" &&
    typeof member(value, "role") === "string" &&
    isJsonObject(member(value, "source")) &&
    content !== undefined &&
    isJsonArray(content)
  );
}

/** True for a content block of this type. */
export function isBlock(
  block: JsonValue | undefined,
  type: "text" | "reasoning" | "tool-call" | "tool-result",
): block is JsonObject {
  return isJsonObject(block) && member(block, "type") === type;
}
