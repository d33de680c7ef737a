/** Where requests go, written to the log when it is new or has changed. */
import { stringifyJson } from "../../events/stringify-json.ts";
import type { EventList } from "./event-list.ts";
import { present } from "./fields.ts";

export interface Route {
  readonly provider: string;
  readonly model: string;
  readonly reasoningEffort?: string | undefined;
  /** System prompt, where the transcript has it. */
  readonly system?: string | undefined;
  /** Tokens that fit in the model's context, where the transcript says it. */
  readonly contextWindow?: number | undefined;
}

export class RequestRoute {
  readonly #list: EventList;
  #header: string | null = null;
  #context: string | null = null;
  #isResumed = false;

  constructor(list: EventList) {
    this.#list = list;
  }

  /** What comes now is of another process than what came before. */
  resume(): void {
    this.#isResumed = true;
  }

  /** Writes what differs from the request before; a step must be open. */
  write({
    provider,
    model,
    reasoningEffort,
    system,
    contextWindow,
  }: Route): void {
    const config = present({ provider, model, reasoningEffort });
    const header = { config, ...present({ system }) };
    const text = stringifyJson(header);
    if (this.#isResumed || text !== this.#header)
      this.#list.append("request/header", { header, reason: this.#reason() });
    this.#header = text;
    this.#isResumed = false;
    const context = present({ provider, model, contextWindow });
    const isNews = this.#context !== null || contextWindow !== undefined;
    if (isNews && stringifyJson(context) !== this.#context) {
      this.#list.append("request/context", context);
      this.#context = stringifyJson(context);
    }
  }

  #reason(): string {
    if (this.#header === null) return "initial";
    return this.#isResumed ? "resume" : "change";
  }
}
