/**
 * Writes a session log from what a transcript tells in order: opens and closes turns and steps, so that every event
 * stands where the rules want it. What it writes depends on what came before alone, so a longer transcript only adds.
 */
import type { JsonObject, JsonValue } from "../../events/json.ts";
import { textBlock, type Block } from "./blocks.ts";
import { writeCompaction, type Compaction } from "./compaction.ts";
import { EventList, type Place } from "./event-list.ts";
import { anyTextAt } from "./fields.ts";
import { RequestRoute, type Route } from "./request-route.ts";
import { SurfaceNodes } from "./surface-nodes.ts";
import type { PlacedEvent } from "./transcript.ts";
import { TurnBrackets, type StepPlace } from "./turn-brackets.ts";

export interface Input {
  readonly id: string;
  readonly content: readonly Block[];
  /** Its kind is `user` when a person typed it. */
  readonly source: JsonObject;
  /** True when it ends the turn before it, if the model has answered in that one. */
  readonly startsTurn: boolean;
}

export interface Answer {
  readonly id: string;
  readonly content: readonly Block[];
  readonly route: Route;
  readonly usage: JsonObject | null;
  /** The person cancelled it, and this is what had come. */
  readonly isInterrupted?: boolean;
}

/** A request that became no message. */
export interface FailedRequest {
  readonly kind: "aborted" | "error";
  readonly message: string;
  /** Text and reasoning that had come of it. */
  readonly content: readonly Block[];
  /** Null when nobody knows where it went. */
  readonly route: Route | null;
  readonly usage: JsonObject | null;
}

export interface ToolResult {
  readonly id: string;
  readonly callId: string;
  readonly content: readonly Block[];
  /** Absent where the transcript does not say. */
  readonly isError?: boolean | undefined;
  /** What the tool says beside its answer. */
  readonly meta?: JsonValue | undefined;
}

export class LogBuilder {
  readonly #list = new EventList();
  readonly #brackets = new TurnBrackets(this.#list);
  readonly #route = new RequestRoute(this.#list);
  readonly #surface = new SurfaceNodes();
  /** Seqs of the calls of the open step that have no result yet. */
  readonly #pending = new Map<string, number>();
  /** How the open turn would end if nothing came any more; null until the model has answered in it. */
  #outcome: "completed" | "interrupted" | null = null;
  #isStepAnswered = false;

  get events(): readonly PlacedEvent[] {
    return this.#list.events;
  }

  get nextSeq(): number {
    return this.#list.nextSeq;
  }

  /** True when the model has answered in the open turn. */
  get isAnswered(): boolean {
    return this.#outcome !== null;
  }

  /** Says where the next events come from. */
  at(place: Place): void {
    this.#list.at(place);
  }

  input({ id, content, source, startsTurn }: Input): void {
    if (startsTurn && this.isAnswered) this.endTurn();
    // What comes among the results of a step stays in it, so that the later results still find their calls.
    if (this.#pending.size === 0) this.#leaveAnswered();
    this.#brackets.step();
    this.#surface.append(this.nextSeq, content, "");
    const data = { id, role: "user", content, source };
    this.#list.append("user/message", data, { surfaceOp: "append" });
  }

  answer({ id, content, route, usage, isInterrupted = false }: Answer): void {
    const place = this.#openRequest(route);
    const { provider, model } = route;
    const source = { kind: "model", provider, model };
    this.#surface.append(this.nextSeq, content, nameOf(place));
    this.#list.append(
      "assistant/message",
      {
        ...place,
        message: { id, role: "assistant", content, source },
        ...(usage === null ? {} : { usage }),
        ...(isInterrupted ? { interrupted: true } : {}),
      },
      { surfaceOp: "append" },
    );
    for (const block of content) {
      if (block.type === "tool-call") this.#call(place, block);
    }
    const isFinal = content.length > 0 && this.#pending.size === 0;
    this.#outcome = isFinal ? "completed" : "interrupted";
  }

  fail({ kind, message, content, route, usage }: FailedRequest): void {
    const place = this.#openRequest(route);
    const chunk = (item: JsonObject): void =>
      this.#list.append("assistant/chunk", { ...place, chunk: item });
    for (const [index, block] of content.entries()) {
      const text = anyTextAt(block, "text");
      chunk({ type: "block-start", index, blockType: block.type });
      chunk({ type: `${block.type}-delta`, index, text });
    }
    if (usage !== null) chunk({ type: "usage", usage });
    const code = kind === "aborted" ? "ABORTED" : "UNKNOWN";
    const failure = { message, code };
    chunk({ type: "finish", reason: { kind, failure } });
    this.#outcome = "interrupted";
  }

  /** False, and nothing is written, when the open step has no such call without a result. */
  result({ id, callId, content, isError, meta }: ToolResult): boolean {
    const call = this.#pending.get(callId);
    if (call === undefined) return false;
    this.#pending.delete(callId);
    const place = this.#brackets.step();
    const block: Block = {
      type: "tool-result",
      toolCallId: callId,
      content,
      ...(isError === undefined ? {} : { isError }),
    };
    this.#surface.append(this.nextSeq, [block], nameOf(place));
    this.#list.append(
      "tool/result",
      {
        ...place,
        message: {
          id,
          role: "user",
          content: [block],
          source: { kind: "tool", callId },
        },
        ...(meta === undefined ? {} : { meta }),
      },
      { sourceEventSeqs: [call], surfaceOp: "append" },
    );
    return true;
  }

  /**
   * Ends the open turn, if there is one.
   * @param reason where the transcript says it; else it follows from the last answer
   */
  endTurn(reason?: JsonObject): void {
    const untold = { kind: this.#outcome ?? "completed" };
    this.#brackets.endTurn(reason ?? untold, reason !== undefined);
    this.#leaveStep();
    this.#outcome = null;
  }

  /** Ends what a session has from its parent, and returns the number of its events. */
  endInherited(): number {
    this.endTurn();
    const seedLength = this.nextSeq;
    this.#list.append("session/end-seed", {});
    this.#route.resume();
    return seedLength;
  }

  /** A name that a person gave the session. */
  title(title: string): void {
    const data = { title, messageSeqs: [], source: { kind: "user" } };
    this.#list.append("session/title", data);
  }

  /**
   * Hides what stands before an event behind a summary. False, and nothing is written, when our log can't say it.
   * @param keptFrom seq of the first event that stays
   */
  compact(keptFrom: number, compaction: Compaction): boolean {
    const shadowed = this.#surface.before(keptFrom);
    if (shadowed === null) return false;
    const turn = this.#brackets.turn;
    const seq = writeCompaction(this.#list, turn, shadowed, compaction);
    this.#surface.replace(keptFrom, seq, [textBlock(compaction.summary)]);
    // A result that comes now would answer a call that the model no longer sees.
    for (const [callId, call] of this.#pending) {
      if (call < keptFrom) this.#pending.delete(callId);
    }
    return true;
  }

  /** Opens the step of a request: the open one, unless the model has answered in it. */
  #openRequest(route: Route | null): StepPlace {
    this.#leaveAnswered();
    const place = this.#brackets.step();
    if (route !== null) this.#route.write(route);
    this.#isStepAnswered = true;
    return place;
  }

  #leaveAnswered(): void {
    if (!this.#isStepAnswered) return;
    this.#brackets.endStep();
    this.#leaveStep();
  }

  #leaveStep(): void {
    this.#isStepAnswered = false;
    this.#pending.clear();
  }

  /** A second call of one id could not be told from the first, so it is in the message alone. */
  #call(place: StepPlace, block: Block): void {
    const callId = anyTextAt(block, "id");
    if (callId === "" || this.#pending.has(callId)) return;
    this.#pending.set(callId, this.nextSeq);
    const name = anyTextAt(block, "name");
    const data = {
      ...place,
      callId,
      name,
      arguments: anyTextAt(block, "arguments"),
    };
    this.#list.append("tool/call", data);
  }
}

function nameOf({ turn, step }: StepPlace): string {
  return `${turn}.${step}`;
}
