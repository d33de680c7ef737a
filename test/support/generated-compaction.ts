/** Generated changes of the surface: compactions, pruned tool results and other replacements. */

import * as fc from "fast-check";
import type { LogWriter, SurfaceNode } from "./generated-log-writer.ts";
import { blocks, injectedSource, type Block } from "./generated-messages.ts";
import {
  json,
  oddText,
  usage,
  type Json,
  type Usage,
} from "./generated-values.ts";

/** A compaction of the head of the surface: in the open turn, or standalone between turns. */
export interface CompactionMove {
  readonly kind: "compaction";
  readonly upTo: number;
  readonly summary: string;
  readonly usage: Usage | null;
  readonly fails: "no" | "before-summary" | "after-summary";
  readonly byCommand: boolean;
  /** An event that slips in between start and summary. */
  readonly between: Json | undefined;
}

/** A shorter content for one tool result on the surface; needs an open turn. */
export interface PruneMove {
  readonly kind: "prune";
  readonly which: number;
  readonly content: readonly Block[];
  /** Whether compaction/prune announces its price. */
  readonly priced: boolean;
}

/** A message that replaces any range of the surface without compaction. */
export interface ReplaceMove {
  readonly kind: "replace";
  readonly from: number;
  readonly span: number;
  readonly source: Json;
  readonly content: readonly Block[];
  /** An earlier event it cites besides the ones it covers. */
  readonly alsoCites: number;
}

/** Compactions; one in four fails. */
export const compactionMove: fc.Arbitrary<CompactionMove> = fc.record({
  kind: fc.constant("compaction"),
  upTo: fc.nat({ max: 30 }),
  summary: oddText,
  usage: fc.option(usage, { freq: 4 }),
  fails: fc.constantFrom(
    "no",
    "no",
    "no",
    "no",
    "before-summary",
    "after-summary",
  ),
  byCommand: fc.boolean(),
  between: fc.option(json, { nil: undefined }),
});

/** Prunes of any result that stands on the surface, a pruned one too. */
export const pruneMove: fc.Arbitrary<PruneMove> = fc.record({
  kind: fc.constant("prune"),
  which: fc.nat({ max: 30 }),
  content: blocks,
  priced: fc.boolean(),
});

/** Replacements of up to four nodes. */
export const replaceMove: fc.Arbitrary<ReplaceMove> = fc.record({
  kind: fc.constant("replace"),
  from: fc.nat({ max: 30 }),
  span: fc.nat({ max: 3 }),
  source: injectedSource,
  content: blocks,
  alsoCites: fc.nat({ max: 200 }),
});

/** Plays a whole compaction bracket; where nothing can be compacted, a failed one. */
export function playCompaction(writer: LogWriter, move: CompactionMove): void {
  const id = writer.nextId();
  const commandId = `command-${id}`;
  const { turn } = writer.state;
  const ids = {
    compactionId: `compaction-${id}`,
    ...(move.byCommand ? { sourceCommandId: commandId } : {}),
  };
  if (move.byCommand)
    writer.append("command/run", {
      commandId,
      name: "compact",
      source: { kind: "user" },
    });
  const start = writer.append("compaction/start", { ...ids, turn });
  if (move.between !== undefined)
    writer.appendIgnorable("acme/gauge", move.between);
  const to = lastWholePosition(writer.state.surface, move.upTo);
  const failed = to === null || move.fails !== "no";
  if (to !== null && move.fails !== "before-summary")
    summarize(writer, move, { ids, start, to });
  const error = failed ? { error: "no summary" } : {};
  writer.append("compaction/end", { ...ids, turn, ...error });
  if (move.byCommand)
    writer.append("command/done", {
      commandId,
      kind: failed ? "error" : "success",
    });
}

/** Shortens a result; does nothing where there is none or no turn is open. */
export function playPrune(writer: LogWriter, move: PruneMove): void {
  const { surface, turn, estimate } = writer.state;
  const results = surface.filter(({ result }) => result !== null);
  const node = results[move.which % results.length];
  if (turn === null || !node?.result) return;
  const { seq, result, group } = node;
  const price = move.priced ? Math.min(node.price, estimate) : null;
  if (price !== null)
    writer.append("compaction/prune", {
      shadowedRange: { start: seq, end: seq },
      shadowedSeqs: [seq],
      shadowedTokenCount: price,
    });
  const { message } = result;
  const content = [{ ...message.content[0], content: move.content }] as const;
  const data = { ...result, message: { ...message, content } };
  const at = surface.indexOf(node);
  writer.appendMessage({
    type: "tool/result",
    data,
    content,
    sources: [seq],
    result: data,
    ...(group === null ? {} : { group }),
    replace: { from: at, to: at, price },
  });
}

/** Replaces a range with an injected message; does nothing on an empty surface. */
export function playReplace(writer: LogWriter, move: ReplaceMove): void {
  const { surface } = writer.state;
  if (surface.length === 0) return;
  const from = move.from % surface.length;
  const to = Math.min(from + move.span, surface.length - 1);
  const covered = seqsOf(surface.slice(from, to + 1));
  const also = move.alsoCites % writer.events.length;
  const { source, content } = move;
  writer.appendMessage({
    type: "user/message",
    data: { id: `m${writer.nextId()}`, role: "user", content, source },
    content,
    sources: covered.includes(also) ? covered : [...covered, also],
    replace: { from, to, price: null },
  });
}

/** Appends the summary and, right after it, the checkpoint that stands for the positions up to `to`. */
function summarize(
  writer: LogWriter,
  move: CompactionMove,
  { ids, start, to }: { ids: object; start: number; to: number },
): void {
  const { surface, estimate } = writer.state;
  const covered = surface.slice(0, to + 1);
  const shadowedSeqs = seqsOf(covered);
  const whole = covered.reduce((sum, node) => sum + node.price, 0);
  const price = Math.min(whole, estimate);
  const block: Block = { type: "text", text: move.summary };
  const summary = writer.append("compaction/summary", {
    ...ids,
    summary: [block],
    shadowedRange: { start: shadowedSeqs[0], end: shadowedSeqs.at(-1) },
    shadowedSeqs,
    shadowedTokenCount: price,
    provider: "example-ai",
    model: "sonar-mini",
    ...(move.usage ? { usage: move.usage } : {}),
  });
  if (move.fails !== "no") return;
  const source = { kind: "plugin", plugin: "compact", ...ids };
  const content: Block[] = [
    { type: "text", text: "Earlier messages in short:\n<compacted-summary>" },
    block,
    { type: "text", text: "</compacted-summary>" },
  ];
  writer.appendMessage({
    type: "user/message",
    data: { id: `m${writer.nextId()}`, role: "user", content, source },
    content,
    sources: [start, summary, ...shadowedSeqs],
    replace: { from: 0, to, price },
  });
}

/** Finds the last position, `wanted` or before it, after which no call is parted from its result. */
function lastWholePosition(
  surface: readonly SurfaceNode[],
  wanted: number,
): number | null {
  for (let to = wanted % Math.max(surface.length, 1); to >= 0; to -= 1) {
    const after = new Set(surface.slice(to + 1).map(({ group }) => group));
    const parted = surface
      .slice(0, to + 1)
      .some(({ group }) => group !== null && after.has(group));
    if (to < surface.length && !parted) return to;
  }
  return null;
}

function seqsOf(nodes: readonly SurfaceNode[]): number[] {
  return nodes.map(({ seq }) => seq);
}
