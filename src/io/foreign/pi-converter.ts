/** Takes the entries of a pi transcript one after the other. */
import type { JsonObject, JsonValue } from "../../events/json.ts";
import { idsOf, textBlock, visibleBlocks, type Block } from "./blocks.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { anyTextAt, fieldAt, textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { LogBuilder } from "./log-builder.ts";
import { bashText, piBlocks, piUsage } from "./pi-messages.ts";
import type { Route } from "./request-route.ts";
import type { PlacedEvent } from "./transcript.ts";
import { isTyped } from "./wrappers.ts";

const PLUGIN = { kind: "plugin", plugin: "pi" };

export class PiConverter {
  readonly #sessionId: string;
  readonly #notes: ConversionNotes;
  readonly #log = new LogBuilder();
  /** Seqs at which entries begin, by id, and by position in the file: the first versions name that. */
  readonly #seqs = new Map<JsonValue, number>();
  #route: Route;

  constructor(sessionId: string, header: JsonObject, notes: ConversionNotes) {
    this.#sessionId = sessionId;
    this.#notes = notes;
    this.#route = {
      provider: textAt(header, "provider") ?? "unknown",
      model: textAt(header, "modelId") ?? "unknown",
      reasoningEffort: effortOf(header),
    };
  }

  get events(): readonly PlacedEvent[] {
    return this.#log.events;
  }

  endInherited(): number {
    return this.#log.endInherited();
  }

  /** @param position of the entry in the file, the header being 0 */
  take(entry: ForeignLine, position: number): void {
    const { value, number } = entry;
    this.#log.at(entry);
    this.#seqs.set(position, this.#log.nextSeq);
    const id = textAt(value, "id") ?? `pi:${this.#sessionId}:${number}`;
    this.#seqs.set(id, this.#log.nextSeq);
    const type = textAt(value, "type") ?? "none";
    switch (type) {
      case "message":
        return this.#message(fieldAt(value, "message"), id, number);
      case "custom_message":
        return this.#context(id, value, number);
      case "compaction":
        return this.#compaction(value, id, number);
      case "model_change":
        this.#route = {
          ...this.#route,
          provider: textAt(value, "provider") ?? this.#route.provider,
          model: textAt(value, "modelId") ?? this.#route.model,
        };
        return;
      case "thinking_level_change":
        this.#route = { ...this.#route, reasoningEffort: effortOf(value) };
        return;
      case "session_info":
        return this.#name(anyTextAt(value, "name").trim(), number);
      default:
        return this.#notes.add(number, `entries of type ${type}`);
    }
  }

  #message(message: JsonValue | undefined, id: string, line: number): void {
    const role = textAt(message, "role") ?? "none";
    switch (role) {
      case "user": {
        const content = this.#blocks(message, line);
        const source = isTyped(content) ? { kind: "user" } : PLUGIN;
        return this.#log.input({ id, content, source, startsTurn: true });
      }
      case "assistant":
        return this.#answer(message, id, line);
      case "toolResult":
        return this.#result(message, id, line);
      case "custom":
      case "hookMessage":
        return this.#context(id, message, line);
      case "bashExecution":
        return this.#bash(message, id, line);
      default:
        return this.#notes.add(line, `messages of role ${role}`);
    }
  }

  #answer(message: JsonValue | undefined, id: string, line: number): void {
    const { reasoningEffort } = this.#route;
    const route = {
      provider: textAt(message, "provider") ?? this.#route.provider,
      model: textAt(message, "model") ?? this.#route.model,
      reasoningEffort,
    };
    const content = this.#blocks(message, line);
    const usage = piUsage(fieldAt(message, "usage"), this.#notes, line);
    const stop = textAt(message, "stopReason");
    if (stop === "aborted" || stop === "error") {
      const reason = textAt(message, "errorMessage") ?? stop;
      this.#broken(stop, reason, { id, content, route, usage }, line);
      return;
    }
    this.#log.answer({ id, content, route, usage });
    if (stop === "toolUse" || idsOf(content, "tool-call").length > 0) return;
    this.#log.endTurn({ kind: stop === "length" ? "max-tokens" : "completed" });
  }

  /** Of an answer that broke off, what can be seen stays a message only if the person cancelled it. */
  #broken(
    kind: "aborted" | "error",
    message: string,
    answer: Parameters<LogBuilder["answer"]>[0],
    line: number,
  ): void {
    const { route, usage } = answer;
    const content = visibleBlocks(answer.content);
    const lost = idsOf(answer.content, "tool-call").length;
    if (lost > 0)
      this.#notes.add(line, "tool calls of answers that broke off", lost);
    if (kind === "aborted" && content.length > 0)
      this.#log.answer({ ...answer, content, isInterrupted: true });
    else this.#log.fail({ kind, message, content, route, usage });
    this.#log.endTurn(
      kind === "aborted"
        ? { kind, reason: { kind: "user" } }
        : { kind, error: { message, code: "UNKNOWN" } },
    );
  }

  #result(message: JsonValue | undefined, id: string, line: number): void {
    const isError = fieldAt(message, "isError");
    const isTaken = this.#log.result({
      id,
      callId: anyTextAt(message, "toolCallId"),
      content: this.#blocks(message, line),
      isError: typeof isError === "boolean" ? isError : undefined,
      meta: fieldAt(message, "details"),
    });
    if (!isTaken)
      this.#notes.add(line, "tool results without a call in their step");
    if (fieldAt(message, "usage") !== undefined)
      this.#notes.add(line, "usage reports of tools");
  }

  #context(id: string, value: JsonValue | undefined, line: number): void {
    const content = this.#blocks(value, line);
    const type = textAt(value, "customType");
    const source = type === null ? PLUGIN : { ...PLUGIN, customType: type };
    this.#log.input({ id, content, source, startsTurn: false });
  }

  #bash(message: JsonValue | undefined, id: string, line: number): void {
    if (fieldAt(message, "excludeFromContext") === true)
      return this.#notes.add(line, "commands that the model did not see");
    const content = [textBlock(bashText(message))];
    this.#log.input({ id, content, source: PLUGIN, startsTurn: false });
  }

  #compaction(value: JsonObject, id: string, line: number): void {
    const kept =
      fieldAt(value, "firstKeptEntryId") ??
      fieldAt(value, "firstKeptEntryIndex");
    const keptFrom = kept === undefined ? undefined : this.#seqs.get(kept);
    const { provider, model } = this.#route;
    const isTaken =
      keptFrom !== undefined &&
      this.#log.compact(keptFrom, {
        id,
        messageId: id,
        summary: anyTextAt(value, "summary"),
        provider,
        model,
      });
    this.#notes.add(
      line,
      isTaken
        ? "compactions, without the frame around their summary and the usage of its request"
        : "compactions that can't be expressed: all messages stay",
    );
  }

  #name(name: string, line: number): void {
    if (name === "") this.#notes.add(line, "names taken away");
    else this.#log.title(name);
  }

  #blocks(message: JsonValue | undefined, line: number): readonly Block[] {
    return piBlocks(fieldAt(message, "content"), this.#notes, line);
  }
}

function effortOf(value: JsonObject): string | undefined {
  const level = textAt(value, "thinkingLevel");
  return level === null || level === "off" ? undefined : level;
}
