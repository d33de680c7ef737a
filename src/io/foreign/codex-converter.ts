/** Takes the lines of a Codex rollout one after the other. */
import type { JsonObject, JsonValue } from "../../events/json.ts";
import { isJsonObject, isSeq } from "../../events/json.ts";
import type { Block } from "./blocks.ts";
import { readCodexItem } from "./codex-items.ts";
import { CodexResponse, type PlacedResult } from "./codex-response.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { CumulativeUsage } from "./cumulative-usage.ts";
import { fieldAt, textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { LogBuilder } from "./log-builder.ts";
import { HELD_BACK } from "./held-back.ts";
import { refuse } from "./refuse.ts";
import type { Route } from "./request-route.ts";
import type { PlacedEvent } from "./transcript.ts";
import { isTyped } from "./wrappers.ts";

const PLUGIN = { kind: "plugin", plugin: "codex" };

/** Events that repeat what response items say. */
const REPETITIONS: ReadonlySet<string> = new Set([
  "agent_message",
  "agent_reasoning",
  "agent_reasoning_raw_content",
  "user_message",
]);

export class CodexConverter {
  readonly #sessionId: string;
  readonly #notes: ConversionNotes;
  readonly #usage: CumulativeUsage;
  readonly #log = new LogBuilder();
  #route: Route;
  #response = new CodexResponse();
  #isInTask = false;
  #error: string | null = null;

  constructor(
    sessionId: string,
    meta: JsonValue | undefined,
    notes: ConversionNotes,
    isFork: boolean,
  ) {
    this.#sessionId = sessionId;
    this.#notes = notes;
    this.#usage = new CumulativeUsage(notes, isFork);
    this.#route = {
      provider: textAt(meta, "model_provider") ?? "openai",
      model: "unknown",
      system: textAt(meta, "base_instructions", "text") ?? undefined,
    };
  }

  get events(): readonly PlacedEvent[] {
    return this.#log.events;
  }

  take(line: ForeignLine): void {
    this.#log.at(line);
    const { value, number } = line;
    const type = textAt(value, "type") ?? "none";
    const payload = fieldAt(value, "payload");
    if (!isJsonObject(payload))
      return this.#notes.add(number, `lines of type ${type} without a payload`);
    switch (type) {
      case "response_item":
        return this.#item(line, payload);
      case "event_msg":
        return this.#event(line, payload);
      case "turn_context":
        this.flush();
        this.#route = {
          ...this.#route,
          model: textAt(payload, "model") ?? this.#route.model,
          reasoningEffort: textAt(payload, "effort") ?? undefined,
        };
        return;
      case "session_meta":
        return this.#notes.add(number, "further headers");
      case "compacted":
        this.flush();
        return this.#notes.add(
          number,
          "compactions that can't be expressed: all messages stay",
        );
      default:
        return this.#notes.add(number, `lines of type ${type}`);
    }
  }

  /** Writes the response in hand. */
  flush(): void {
    const { content, usage, results, first, last } = this.#response;
    this.#response = new CodexResponse();
    if (first !== null && last !== null) {
      this.#log.at(last);
      const id = this.#idOf(first);
      this.#log.answer({ id, content, route: this.#route, usage });
    }
    for (const result of results) this.#result(result);
  }

  /** Writes the response in hand, unless more of it may come. */
  finish(isWhole: boolean): void {
    const { first, isReported } = this.#response;
    if (isWhole || isReported || first === null) return this.flush();
    this.#notes.add(first.number, HELD_BACK);
  }

  endInherited(line: ForeignLine): number {
    this.flush();
    this.#log.at(line);
    this.#isInTask = false;
    return this.#log.endInherited();
  }

  #item(line: ForeignLine, payload: JsonObject): void {
    const item = readCodexItem(payload, this.#notes, line.number);
    switch (item.kind) {
      case "input":
        return this.#input(line, item.role, item.content);
      case "output":
        if (this.#response.isOver) this.flush();
        return this.#response.addItem(line, item.content);
      case "result": {
        const { callId, content, isError } = item;
        const result = { id: this.#idOf(line), callId, content, isError };
        if (this.#response.first === null)
          return this.#result({ line, result });
        this.#response.results.push({ line, result });
        return;
      }
      case "unknown":
        return this.#notes.add(
          line.number,
          `response items of type ${item.type}`,
        );
    }
  }

  #result({ line, result }: PlacedResult): void {
    this.#log.at(line);
    if (!this.#log.result(result))
      this.#notes.add(line.number, "tool results without a call in their step");
  }

  #input(line: ForeignLine, role: string, content: readonly Block[]): void {
    this.flush();
    this.#log.at(line);
    const isHuman = role === "user" && isTyped(content);
    const source = isHuman
      ? { kind: "user" }
      : { ...PLUGIN, ...(role === "user" ? {} : { form: "instructions" }) };
    // Within a task, what a person types steers the turn that is on.
    const startsTurn = isHuman && !this.#isInTask;
    this.#log.input({ id: this.#idOf(line), content, source, startsTurn });
  }

  #event(line: ForeignLine, payload: JsonObject): void {
    const type = textAt(payload, "type") ?? "none";
    switch (type) {
      case "token_count":
        return this.#count(line, fieldAt(payload, "info"));
      case "task_started":
      case "turn_started":
        return this.#start(line, payload);
      case "task_complete":
      case "turn_complete":
        return this.#end(line, this.#reason());
      case "turn_aborted": {
        const isByUser = textAt(payload, "reason") === "interrupted";
        const reason = { kind: isByUser ? "user" : "legacy" };
        return this.#end(line, { kind: "aborted", reason });
      }
      case "error":
        this.#error = textAt(payload, "message") ?? "unknown error";
        return;
      case "thread_rolled_back":
        return refuse(
          line.number,
          "turns before this line were taken back: the transcript has several branches, and only one can be imported",
        );
      default:
        if (!REPETITIONS.has(type))
          this.#notes.add(line.number, `events of type ${type}`);
    }
  }

  #count(line: ForeignLine, info: JsonValue | undefined): void {
    const added = this.#usage.take(info, line.number);
    if (added === null) return;
    if (this.#response.isReported) this.flush();
    this.#setWindow(fieldAt(info, "model_context_window"));
    this.#response.addReport(line, added.usage);
  }

  #start(line: ForeignLine, payload: JsonObject): void {
    this.flush();
    this.#log.at(line);
    if (this.#log.isAnswered) this.#log.endTurn();
    this.#isInTask = true;
    this.#error = null;
    this.#setWindow(fieldAt(payload, "model_context_window"));
  }

  #end(line: ForeignLine, reason: JsonObject): void {
    this.flush();
    this.#log.at(line);
    this.#log.endTurn(reason);
    this.#isInTask = false;
    this.#error = null;
  }

  #reason(): JsonObject {
    return this.#error === null
      ? { kind: "completed" }
      : { kind: "error", error: { message: this.#error, code: "UNKNOWN" } };
  }

  #setWindow(window: JsonValue | undefined): void {
    if (isSeq(window)) this.#route = { ...this.#route, contextWindow: window };
  }

  #idOf({ value, number }: ForeignLine): string {
    return (
      textAt(value, "payload", "id") ?? `codex:${this.#sessionId}:${number}`
    );
  }
}
