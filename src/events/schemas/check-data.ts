/** Checks the data of one event against the schema of its type. */
import type { z } from "zod";
import { isJsonObject, type JsonValue } from "../json.ts";
import { RuleViolation } from "../rule-violation.ts";
import { eventSchemas } from "./event-schemas.ts";
import { isOrdinal } from "./fields.ts";
import { pathOf, reasonOf } from "./reasons.ts";

const SCHEMAS: ReadonlyMap<string, z.ZodType> = new Map(
  Object.entries(eventSchemas),
);

/**
 * Checks data that is lossless JSON; messages and request headers are left to `checkMessageShape`. Data of types
 * nobody knows passes.
 * @throws RuleViolation for the first problem.
 */
export function checkData(type: string, data: JsonValue): void {
  if (type === "assistant/chunk" && isPlainDelta(data)) return;
  const issue = SCHEMAS.get(type)?.safeParse(data).error?.issues[0];
  if (issue)
    throw new RuleViolation("data-shape", pathOf(issue), reasonOf(issue));
}

/**
 * True for the data of a well-formed delta: what the schema of chunks says too, at a fraction of its cost. Nearly all
 * events of a log are deltas.
 */
export function isPlainDelta(data: JsonValue): boolean {
  if (!isJsonObject(data)) return false;
  const chunk = data["chunk"];
  if (!isOrdinal(data["turn"]) || !isOrdinal(data["step"])) return false;
  if (!isJsonObject(chunk) || !Number.isFinite(chunk["index"])) return false;
  const kind = chunk["type"];
  if (kind === "text-delta" || kind === "reasoning-delta")
    return typeof chunk["text"] === "string";
  return (
    kind === "tool-call-delta" &&
    typeof chunk["id"] === "string" &&
    typeof chunk["argumentsDelta"] === "string" &&
    (chunk["name"] === undefined || typeof chunk["name"] === "string")
  );
}
