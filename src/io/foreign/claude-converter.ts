/** Takes the lines of a Claude Code transcript one after the other. */
import {
  isJsonArray,
  type JsonObject,
  type JsonValue,
} from "../../events/json.ts";
import { idsOf, textsOf, type Block } from "./blocks.ts";
import type { ClaudeAnswer } from "./claude-answers.ts";
import { claudeBlocks } from "./claude-blocks.ts";
import { isResult } from "./claude-lines.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { anyTextAt, fieldAt, listAt, textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { LogBuilder } from "./log-builder.ts";
import type { Route } from "./request-route.ts";
import type { PlacedEvent } from "./transcript.ts";
import { isTyped } from "./wrappers.ts";

const PLUGIN = { kind: "plugin", plugin: "claude-code" };

/** Model of the answers that Claude Code writes itself. */
const SYNTHETIC = "<synthetic>";

/** Stop reasons after which the same answer goes on in another request. */
const GOES_ON: ReadonlySet<string> = new Set(["tool_use", "pause_turn"]);

export class ClaudeConverter {
  readonly #sessionId: string;
  readonly #notes: ConversionNotes;
  readonly #log = new LogBuilder();
  #route: Route | null = null;
  #keepsMessages = false;

  constructor(sessionId: string, notes: ConversionNotes) {
    this.#sessionId = sessionId;
    this.#notes = notes;
  }

  get events(): readonly PlacedEvent[] {
    return this.#log.events;
  }

  endInherited(line: ForeignLine): number {
    this.#log.at(line);
    return this.#log.endInherited();
  }

  answer(answer: ClaudeAnswer): void {
    const { first, time, content, stop } = answer;
    this.#log.at({ number: first.number, time });
    if (first.value["isApiErrorMessage"] === true)
      return this.#apiError(textsOf(content).join("\n"));
    const id = answer.id ?? this.#idOf(first);
    const model = answer.model ?? "unknown";
    const isOwn = model === SYNTHETIC;
    const route = { provider: isOwn ? "claude-code" : "anthropic", model };
    if (!isOwn) this.#route = route;
    this.#log.answer({
      id,
      content,
      route,
      usage: isOwn ? null : answer.usage,
    });
    const hasCalls = idsOf(content, "tool-call").length > 0;
    if (stop === null || GOES_ON.has(stop) || hasCalls) return;
    const kind = stop === "max_tokens" ? "max-tokens" : "completed";
    this.#log.endTurn({ kind });
  }

  take(line: ForeignLine): void {
    this.#log.at(line);
    const { value, number } = line;
    const type = textAt(value, "type") ?? "none";
    switch (type) {
      case "user":
        return this.#user(line);
      case "system":
        return this.#system(value, number);
      case "attachment":
        return this.#attachment(line);
      case "custom-title":
        return this.#title(anyTextAt(value, "customTitle").trim(), number);
      default:
        return this.#notes.add(number, `lines of type ${type}`);
    }
  }

  #user(line: ForeignLine): void {
    const { value, number } = line;
    if (value["isCompactSummary"] === true) return this.#compaction(line);
    if (value["isVisibleInTranscriptOnly"] === true)
      return this.#notes.add(number, "messages that the model did not see");
    const content = fieldAt(value, "message", "content");
    const results = listAt(value, "message", "content").filter(isResult);
    for (const [at, result] of results.entries()) {
      const suffix = results.length === 1 ? "" : `:${at}`;
      this.#result(line, result, suffix);
    }
    const blocks = claudeBlocks(withoutResults(content), this.#notes, number);
    if (results.length > 0 && blocks.length === 0) return;
    this.#input(line, blocks, results.length === 0);
  }

  #input(
    line: ForeignLine,
    content: readonly Block[],
    mayStartTurn: boolean,
  ): void {
    const origin = textAt(line.value, "origin", "kind");
    const isHuman =
      line.value["isMeta"] !== true &&
      (origin === null || origin === "human") &&
      isTyped(content);
    this.#log.input({
      id: this.#idOf(line),
      content,
      source: isHuman ? { kind: "user" } : PLUGIN,
      startsTurn: isHuman && mayStartTurn,
    });
    const isInterruption = textsOf(content).some((text) =>
      text.startsWith("[Request interrupted by user"),
    );
    if (isInterruption && !isHuman)
      this.#log.endTurn({ kind: "aborted", reason: { kind: "user" } });
  }

  /** @param suffix tells results that share a line apart; then the line says nothing beside any of them */
  #result(line: ForeignLine, block: JsonValue, suffix: string): void {
    const { value, number } = line;
    const isError = fieldAt(block, "is_error");
    const content = claudeBlocks(
      fieldAt(block, "content"),
      this.#notes,
      number,
    );
    const isTaken = this.#log.result({
      id: this.#idOf(line) + suffix,
      callId: anyTextAt(block, "tool_use_id"),
      content,
      isError: typeof isError === "boolean" ? isError : undefined,
      meta: suffix === "" ? this.#metaOf(value, number) : undefined,
    });
    if (!isTaken)
      this.#notes.add(number, "tool results without a call in their step");
  }

  /** What the tool gave beside its text, unless that is the bytes of a file. */
  #metaOf(value: JsonObject, line: number): JsonValue | undefined {
    const found = value["toolUseResult"];
    const items = found !== undefined && isJsonArray(found) ? found : [];
    const holdsBytes =
      fieldAt(found, "isImage") === true ||
      fieldAt(found, "file", "base64") !== undefined ||
      items.some((item) => fieldAt(item, "source") !== undefined);
    if (!holdsBytes) return found;
    this.#notes.add(line, "results of tools that hold the bytes of a file");
    return undefined;
  }

  #apiError(message: string): void {
    const route = this.#route;
    this.#log.fail({ kind: "error", message, content: [], route, usage: null });
    const error = { message, code: "UNKNOWN" };
    this.#log.endTurn({ kind: "error", error });
  }

  #system(value: JsonObject, line: number): void {
    const subtype = textAt(value, "subtype") ?? "none";
    if (subtype !== "compact_boundary")
      return this.#notes.add(line, `system lines of type ${subtype}`);
    const metadata = value["compactMetadata"];
    this.#keepsMessages =
      fieldAt(metadata, "preservedSegment") !== undefined ||
      fieldAt(metadata, "preservedMessages") !== undefined;
  }

  /** The summary takes the place of all messages before it, unless some were kept: which ones, our range can't say. */
  #compaction(line: ForeignLine): void {
    const { value, number } = line;
    const content = claudeBlocks(
      fieldAt(value, "message", "content"),
      this.#notes,
      number,
    );
    const id = this.#idOf(line);
    const isTaken =
      !this.#keepsMessages &&
      this.#route !== null &&
      this.#log.compact(this.#log.nextSeq, {
        id,
        messageId: id,
        summary: textsOf(content).join("\n"),
        provider: this.#route.provider,
        model: this.#route.model,
      });
    this.#keepsMessages = false;
    this.#notes.add(
      number,
      isTaken
        ? "compactions, without the usage of their request"
        : "compactions that can't be expressed: all messages stay, and the summary stands behind them",
    );
    if (!isTaken)
      this.#log.input({ id, content, source: PLUGIN, startsTurn: false });
  }

  /** A prompt that was queued while the model worked steers the turn that is on. */
  #attachment(line: ForeignLine): void {
    const attachment = line.value["attachment"];
    const type = textAt(attachment, "type") ?? "none";
    const prompt = fieldAt(attachment, "prompt");
    if (type !== "queued_command" || prompt === undefined)
      return this.#notes.add(line.number, `attachments of type ${type}`);
    this.#input(line, claudeBlocks(prompt, this.#notes, line.number), false);
  }

  #title(title: string, line: number): void {
    if (title === "") this.#notes.add(line, "titles taken away");
    else this.#log.title(title);
  }

  #idOf({ value, number }: ForeignLine): string {
    return textAt(value, "uuid") ?? `claude-code:${this.#sessionId}:${number}`;
  }
}

function withoutResults(content: JsonValue | undefined): JsonValue | undefined {
  return content !== undefined && isJsonArray(content)
    ? content.filter((block) => !isResult(block))
    : content;
}
