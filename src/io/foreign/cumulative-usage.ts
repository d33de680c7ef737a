/** Usage of single requests out of a counter that only ever grows: what a report adds to the one before it. */
import { isSeq, type JsonObject, type JsonValue } from "../../events/json.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { fieldAt } from "./fields.ts";

export interface AddedUsage {
  /** In disjoint buckets; null when the counts contradict each other. */
  readonly usage: JsonObject | null;
}

/** Counts as OpenAI reports them: input holds the cached tokens, output the reasoning. */
interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly cacheWrite: number;
  readonly output: number;
  readonly reasoning: number;
}

const ZERO: Counts = {
  input: 0,
  cached: 0,
  cacheWrite: 0,
  output: 0,
  reasoning: 0,
};

export class CumulativeUsage {
  readonly #notes: ConversionNotes;
  readonly #hasPast: boolean;
  #total: Counts | null = null;

  /** @param hasPast whether the counter may have begun before the transcript */
  constructor(notes: ConversionNotes, hasPast: boolean) {
    this.#notes = notes;
    this.#hasPast = hasPast;
  }

  /** What a report adds; null when that is nothing, as with one that repeats the total. */
  take(info: JsonValue | undefined, line: number): AddedUsage | null {
    const total = countsOf(fieldAt(info, "total_token_usage"));
    if (total === null) {
      if (info !== undefined && info !== null)
        this.#notes.add(line, "token reports without a total that can be read");
      return null;
    }
    const last = countsOf(fieldAt(info, "last_token_usage"));
    const added = this.#added(total, last, line);
    this.#total = total;
    return isZero(added) ? null : { usage: this.#disjoint(added, line) };
  }

  #added(total: Counts, last: Counts | null, line: number): Counts {
    const before = this.#total;
    const isFirst = before === null;
    if (isFirst && (!this.#hasPast || (last !== null && isWithin(total, last))))
      return total;
    if (before !== null && isWithin(before, total))
      return difference(total, before);
    this.#notes.add(
      line,
      isFirst
        ? "token counters that began before the transcript: their first report counts its last request alone"
        : "token counters that went back: the report counts its last request alone",
    );
    if (last !== null && isWithin(last, total)) return last;
    return isFirst ? ZERO : total;
  }

  #disjoint(added: Counts, line: number): JsonObject | null {
    const { input, cached, cacheWrite, output, reasoning } = added;
    const inputTokens = input - cached - cacheWrite;
    if (inputTokens < 0) {
      this.#notes.add(
        line,
        "token reports with more cached input than input, left out",
      );
      return null;
    }
    if (reasoning > output)
      this.#notes.add(
        line,
        "token reports with more reasoning than output: reasoning is left out",
      );
    return {
      inputTokens,
      outputTokens: output,
      cacheReadTokens: cached,
      ...(cacheWrite === 0 ? {} : { cacheWriteTokens: cacheWrite }),
      ...(reasoning > output ? {} : { reasoningTokens: reasoning }),
    };
  }
}

/** Null when a count is there that is none. */
function countsOf(value: JsonValue | undefined): Counts | null {
  const input = countAt(value, "input_tokens");
  const cached = countAt(value, "cached_input_tokens");
  const cacheWrite = countAt(value, "cache_write_input_tokens");
  const output = countAt(value, "output_tokens");
  const reasoning = countAt(value, "reasoning_output_tokens");
  const isMissing = fieldAt(value, "input_tokens") === undefined;
  if (isMissing || input === null || cached === null || cacheWrite === null)
    return null;
  if (output === null || reasoning === null) return null;
  return { input, cached, cacheWrite, output, reasoning };
}

function countAt(value: JsonValue | undefined, key: string): number | null {
  const count = fieldAt(value, key) ?? 0;
  return isSeq(count) ? count : null;
}

/** True when no count of the first is above that of the second. */
function isWithin(inner: Counts, outer: Counts): boolean {
  return (
    inner.input <= outer.input &&
    inner.cached <= outer.cached &&
    inner.cacheWrite <= outer.cacheWrite &&
    inner.output <= outer.output &&
    inner.reasoning <= outer.reasoning
  );
}

function difference(total: Counts, before: Counts): Counts {
  return {
    input: total.input - before.input,
    cached: total.cached - before.cached,
    cacheWrite: total.cacheWrite - before.cacheWrite,
    output: total.output - before.output,
    reasoning: total.reasoning - before.reasoning,
  };
}

function isZero(counts: Counts): boolean {
  return isWithin(counts, ZERO);
}
