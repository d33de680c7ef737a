/** One response of the model while its items, its usage and the results of its calls come in. */
import type { JsonObject } from "../../events/json.ts";
import type { Block } from "./blocks.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import type { ToolResult } from "./log-builder.ts";

export interface PlacedResult {
  readonly line: ForeignLine;
  readonly result: ToolResult;
}

export class CodexResponse {
  readonly content: Block[] = [];
  readonly results: PlacedResult[] = [];
  usage: JsonObject | null = null;
  /** Line of the first item, which names the message, and of the last. */
  #first: ForeignLine | null = null;
  #last: ForeignLine | null = null;

  get first(): ForeignLine | null {
    return this.#first;
  }

  get last(): ForeignLine | null {
    return this.#last;
  }

  /** True when the next item of an answer belongs to another response. */
  get isOver(): boolean {
    return this.usage !== null || this.results.length > 0;
  }

  addItem(line: ForeignLine, content: readonly Block[]): void {
    this.content.push(...content);
    this.#first ??= line;
    this.#last = line;
  }

  addUsage(line: ForeignLine, usage: JsonObject): void {
    this.usage = usage;
    this.#first ??= line;
    this.#last ??= line;
  }
}
