/**
 * What the requests of a log cost, reckoned in the simplest way there is: cut the log at everything that ends an
 * attempt, and take the last report of each piece. Written apart from the product's fold, so that each checks the other.
 */
import type { EventLike } from "./reference-log.ts";

export type Bill = Readonly<Record<(typeof BUCKETS)[number], number>>;

const BUCKETS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
] as const;

/** Sums over the events from `fromSeq` on. An attempt belongs to where its first event stands. */
export function billedUsage(
  events: readonly EventLike[],
  fromSeq: number,
): Bill {
  const reports: unknown[] = [];
  let piece: { readonly firstSeq: number; last: unknown } | null = null;
  const cut = (): void => {
    if (piece !== null && piece.firstSeq >= fromSeq) reports.push(piece.last);
    piece = null;
  };
  let isFinished = false;
  for (const event of events) {
    const data = at(event, "data");
    const chunk = at(data, "chunk");
    if (CUTS.has(event.type)) cut();
    if (event.type === "compaction/summary" && event.seq >= fromSeq)
      reports.push(at(data, "usage"));
    if (event.type === "assistant/chunk") {
      if (isFinished) cut();
      piece ??= { firstSeq: event.seq, last: null };
      if (at(chunk, "type") === "usage") piece.last = at(chunk, "usage");
      isFinished = at(chunk, "type") === "finish";
    }
    if (event.type === "assistant/message") {
      piece ??= { firstSeq: event.seq, last: null };
      piece.last = at(data, "usage") ?? piece.last;
      cut();
    }
    if (event.type !== "assistant/chunk") isFinished = false;
  }
  cut();
  const total = (bucket: (typeof BUCKETS)[number]): number =>
    reports.reduce<number>((sum, one) => sum + countOf(at(one, bucket)), 0);
  return {
    inputTokens: total("inputTokens"),
    outputTokens: total("outputTokens"),
    cacheReadTokens: total("cacheReadTokens"),
    cacheWriteTokens: total("cacheWriteTokens"),
  };
}

const CUTS: ReadonlySet<string> = new Set([
  "turn/start",
  "turn/end",
  "step/start",
  "step/end",
  "llm/retry",
  "llm/retry-started",
  "compaction/start",
]);

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0
    ? value
    : 0;
}

function at(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : undefined;
}
