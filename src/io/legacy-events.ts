/**
 * Brings events of earlier writers of format 0 into the present shape: messages without identity, steering messages,
 * and the turn events of that time. Strict about keys: a shape that is neither old nor new is refused as it is.
 *
 * The trigger of an earlier turn/start is legal today too, as a key that nobody knows. So it stays in a log that needs no
 * other conversion, which comes back byte for byte, and goes in one that does. Whether a log does is known at its end
 * only: the first reading counts, the second drops.
 */
import { member } from "../events/event.ts";
import {
  isJsonObject,
  isSeq,
  type JsonObject,
  type JsonValue,
} from "../events/json.ts";
import { RuleViolation } from "../events/rule-violation.ts";

export class LegacyEvents {
  readonly #sessionId: string;
  readonly #dropsTriggers: boolean;
  #converted = 0;
  #triggers = 0;
  /** Ids of the messages so far, by seq: a rewritten tool result keeps the identity of the one it replaces. */
  readonly #messageIds = new Map<number, string>();

  constructor(sessionId: string, options: { readonly dropsTriggers: boolean }) {
    this.#sessionId = sessionId;
    this.#dropsTriggers = options.dropsTriggers;
  }

  /** Events that need a conversion so far; with the triggers of turns, if any other event does. */
  get converted(): number {
    return this.#converted === 0 ? 0 : this.#converted + this.#triggers;
  }

  /**
   * Returns the event in its present shape: itself when it has that already.
   * @param seq the one it has in the log
   * @throws RuleViolation (rule `legacy-shape`)
   */
  upgrade(event: JsonObject, seq: number): JsonObject {
    const upgraded = this.#upgraded(event, seq);
    if (upgraded !== event && event["type"] !== "turn/start")
      this.#converted += 1;
    const { type, data } = upgraded;
    const message = type === "user/message" ? data : member(data, "message");
    const id = member(message, "id");
    if (typeof id === "string" && upgraded["surfaceOp"] !== undefined)
      this.#messageIds.set(seq, id);
    return upgraded;
  }

  #upgraded(event: JsonObject, seq: number): JsonObject {
    const { data } = event;
    const type = nameOf(event["type"]);
    const identity = `legacy-message:${this.#sessionId}:${seq}`;
    switch (type) {
      case "turn/start":
        return this.#turnStart(event);
      case "turn/end":
        return withData(event, turnEnd(data));
      case "steering/message":
        return {
          ...event,
          type: "user/message",
          data: steering(data, identity),
        };
      case "user/message":
        return withData(event, userMessage(data, identity));
      case "assistant/message":
        return withData(event, assistantMessage(data, identity));
      case "tool/result":
        return withData(
          event,
          toolResult(data, this.#replacedId(event) ?? identity),
        );
      default:
        return event;
    }
  }

  #turnStart(event: JsonObject): JsonObject {
    const data = withoutTrigger(event["data"]);
    if (data === null) return event;
    this.#triggers += 1;
    return this.#dropsTriggers ? { ...event, data } : event;
  }

  #replacedId(event: JsonObject): string | null {
    const start = member(event["surfaceOp"], "start");
    if (member(event["surfaceOp"], "op") !== "replace" || !isSeq(start))
      return null;
    return this.#messageIds.get(start) ?? null;
  }
}

/** Null stands for data that needs no change. */
type Upgraded = JsonObject | null;

function withData(event: JsonObject, data: Upgraded): JsonObject {
  return data === null ? event : { ...event, data };
}

function withoutTrigger(data: JsonValue | undefined): Upgraded {
  if (!isJsonObject(data) || !Object.hasOwn(data, "trigger")) return null;
  const { turn, trigger } = data;
  const kind = member(trigger, "kind");
  if (!hasKeys(data, ["turn", "trigger"]) || typeof kind !== "string")
    return malformed(
      "data.trigger",
      "is not the trigger of an earlier turn/start",
    );
  return { turn: turn ?? null };
}

function turnEnd(data: JsonValue | undefined): Upgraded {
  if (!isJsonObject(data) || !isJsonObject(data["reason"])) return null;
  const reason = upgradedReason(data["reason"]);
  return reason === null ? null : { ...data, reason };
}

function upgradedReason(reason: JsonObject): Upgraded {
  switch (nameOf(reason["kind"])) {
    case "aborted":
      if (Object.hasOwn(reason, "reason")) return null;
      requireKeys(reason, ["kind"], "data.reason");
      return { kind: "aborted", reason: { kind: "legacy" } };
    case "disposed":
      requireKeys(reason, ["kind"], "data.reason");
      return { kind: "aborted", reason: { kind: "disposed" } };
    case "error":
      return Object.hasOwn(reason, "error")
        ? null
        : { kind: "error", error: failureOf(reason) };
    default:
      return null;
  }
}

function failureOf(reason: JsonObject): JsonObject {
  const { step, failure, message, code } = reason;
  if (!isSeq(step))
    return malformed("data.reason.step", "must be a whole number from 0");
  if (failure !== undefined) {
    requireKeys(reason, ["kind", "step", "failure"], "data.reason");
    return isJsonObject(failure)
      ? failure
      : malformed("data.reason.failure", "must be an object");
  }
  requireKeys(reason, ["kind", "step", "message"], "data.reason", ["code"]);
  return { message: message ?? null, code: code ?? "UNKNOWN" };
}

function steering(data: JsonValue | undefined, id: string): JsonObject {
  if (!isJsonObject(data) || !Number.isSafeInteger(data["turn"]))
    return malformed("data", "is not that of a steering message");
  if (isJsonObject(data["message"])) {
    requireKeys(data, ["turn", "message"], "data");
    return data["message"];
  }
  requireKeys(data, ["turn", "content", "source"], "data");
  const { turn: _turn, ...message } = data;
  return { ...message, id, role: "user" };
}

function userMessage(data: JsonValue | undefined, id: string): Upgraded {
  const isOld =
    isJsonObject(data) &&
    hasAll(data, ["content", "source"]) &&
    hasNone(data, ["id", "role", "message"]);
  return isOld ? { ...data, id, role: "user" } : null;
}

function assistantMessage(data: JsonValue | undefined, id: string): Upgraded {
  if (
    !isJsonObject(data) ||
    !hasAll(data, ["content", "provenance"]) ||
    !hasNone(data, ["message"])
  )
    return null;
  const { content = null, provenance, ...rest } = data;
  const source = {
    ...(isJsonObject(provenance) ? provenance : {}),
    kind: "model",
  };
  return { ...rest, message: { id, role: "assistant", content, source } };
}

function toolResult(data: JsonValue | undefined, id: string): Upgraded {
  if (
    !isJsonObject(data) ||
    !hasAll(data, ["callId", "content", "isError"]) ||
    !hasNone(data, ["message"])
  )
    return null;
  const { callId = null, content = null, isError = null, ...rest } = data;
  const block = { type: "tool-result", toolCallId: callId, content, isError };
  const source = { kind: "tool", callId };
  return { ...rest, message: { id, role: "user", content: [block], source } };
}

/** Nothing that has a name is named by the empty text. */
function nameOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function hasAll(data: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(data, key));
}

function hasNone(data: JsonObject, keys: readonly string[]): boolean {
  return keys.every((key) => !Object.hasOwn(data, key));
}

/** Has all of these keys, and besides them only optional ones. */
function hasKeys(
  data: JsonObject,
  keys: readonly string[],
  optional: readonly string[] = [],
): boolean {
  const allowed = [...keys, ...optional];
  return (
    hasAll(data, keys) &&
    Object.keys(data).every((key) => allowed.includes(key))
  );
}

function requireKeys(
  data: JsonObject,
  keys: readonly string[],
  path: string,
  optional: readonly string[] = [],
): void {
  if (!hasKeys(data, keys, optional))
    malformed(path, `must have exactly ${keys.join(", ")}, as in earlier logs`);
}

function malformed(path: string, reason: string): never {
  throw new RuleViolation("legacy-shape", path, reason);
}
