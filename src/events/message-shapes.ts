/** The shapes that a log must have to be opened again: messages on the surface, and request headers. */
import {
  isJsonObject,
  isJsonArray,
  type JsonObject,
  type JsonValue,
} from "./json.ts";
import { RuleViolation } from "./rule-violation.ts";

/** @throws RuleViolation when the data of an event of this type can't be opened again. */
export function checkMessageShape(type: string, data: JsonValue): void {
  switch (type) {
    case "user/message":
      checkMessage(data, "data", "user");
      return;
    case "assistant/message":
      checkAssistantMessage(object(data, "data"));
      return;
    case "tool/result":
      checkToolResult(object(data, "data"));
      return;
    case "request/header":
      checkRequestHeader(object(data, "data"));
      return;
    default:
  }
}

function checkMessage(
  value: JsonValue | undefined,
  path: string,
  role: string,
): JsonObject {
  const message = object(value, path);
  nonEmpty(message["id"], `${path}.id`);
  if (message["role"] !== role) fail(`${path}.role`, `must be "${role}"`);
  const source = object(message["source"], `${path}.source`);
  nonEmpty(source["kind"], `${path}.source.kind`);
  list(message["content"], `${path}.content`);
  return source;
}

function checkAssistantMessage(data: JsonObject): void {
  const source = checkMessage(data["message"], "data.message", "assistant");
  if (source["kind"] !== "model")
    fail("data.message.source.kind", 'must be "model"');
  nonEmpty(source["provider"], "data.message.source.provider");
  nonEmpty(source["model"], "data.message.source.model");
}

function checkToolResult(data: JsonObject): void {
  const source = checkMessage(data["message"], "data.message", "user");
  if (source["kind"] !== "tool")
    fail("data.message.source.kind", 'must be "tool"');
  nonEmpty(source["callId"], "data.message.source.callId");
  const content = list(
    object(data["message"], "data.message")["content"],
    "data.message.content",
  );
  if (content.length !== 1)
    fail("data.message.content", "must hold exactly one block");
  const block = object(content[0], "data.message.content[0]");
  if (block["type"] !== "tool-result")
    fail("data.message.content[0].type", 'must be "tool-result"');
  list(block["content"], "data.message.content[0].content");
  if (block["toolCallId"] !== source["callId"])
    fail(
      "data.message.content[0].toolCallId",
      "must equal data.message.source.callId",
    );
}

function checkRequestHeader(data: JsonObject): void {
  const header = object(data["header"], "data.header");
  const config = object(header["config"], "data.header.config");
  nonEmpty(config["provider"], "data.header.config.provider");
  nonEmpty(config["model"], "data.header.config.model");
  if (Object.hasOwn(config, "reasoningEffort"))
    nonEmpty(config["reasoningEffort"], "data.header.config.reasoningEffort");
  if (!Object.hasOwn(header, "adapterDefaults")) return;
  const path = "data.header.adapterDefaults";
  for (const [key, value] of Object.entries(
    object(header["adapterDefaults"], path),
  )) {
    if (key !== "reasoningEffort" && key !== "maxTokens")
      fail(`${path}.${key}`, "is not a known default");
    if (value !== true) fail(`${path}.${key}`, "must be true");
    if (!Object.hasOwn(config, key))
      fail(`${path}.${key}`, `needs data.header.config.${key}`);
  }
}

function object(value: JsonValue | undefined, path: string): JsonObject {
  if (!isJsonObject(value)) return fail(path, "must be an object");
  return value;
}

function list(
  value: JsonValue | undefined,
  path: string,
): readonly JsonValue[] {
  if (value === undefined || !isJsonArray(value))
    return fail(path, "must be an array");
  return value;
}

function nonEmpty(value: JsonValue | undefined, path: string): void {
  if (typeof value !== "string" || value === "")
    fail(path, "must be a non-empty string");
}

function fail(path: string, reason: string): never {
  throw new RuleViolation("message-shape", path, reason);
}
