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
  /** Null without a report, and with one that can't be right. */
  usage: JsonObject | null = null;
  /** True when the tokens of the response are reported, so that it is whole. */
  isReported = false;
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
    return this.isReported || this.results.length > 0;
  }

  addItem(line: ForeignLine, content: readonly Block[]): void {
    this.content.push(...content);
    this.#first ??= line;
    this.#last = line;
  }

  addReport(line: ForeignLine, usage: JsonObject | null): void {
    this.isReported = true;
    this.usage = usage;
    this.#first ??= line;
    this.#last ??= line;
  }
}
