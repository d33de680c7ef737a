/** Generated streams: one attempt of a model request as its chunks arrive. */

import * as fc from "fast-check";
import type { LogWriter } from "./generated-log-writer.ts";
import type { Block } from "./generated-messages.ts";
import {
  oddName,
  oddText,
  seldom,
  some,
  usage,
  type Usage,
} from "./generated-values.ts";

/** A streamed block. */
interface BlockMove {
  readonly kind: "text" | "reasoning" | "tool-call";
  readonly deltas: readonly string[];
  /** Whether block-start and block-end stand around the deltas. */
  readonly framed: boolean;
  /** Whether its block-end comes only after the next block has begun. */
  readonly endsLate: boolean;
  /** What block-end says instead of the joined deltas. */
  readonly rewritten: string | null;
  readonly callId: string;
  readonly name: string;
  readonly named: "first" | "all";
  /** Position of a delta with a key that packing does not know. */
  readonly tracedAt: number | null;
}

/** One attempt: its blocks and what it cost, if the provider says. */
export interface AttemptMove {
  readonly blocks: readonly BlockMove[];
  readonly usage: Usage | null;
  /** Whether the last block has no end, if the attempt fails or is cancelled. */
  readonly cut: boolean;
}

/** What an attempt left behind. */
export interface Streamed {
  readonly seqs: readonly number[];
  readonly blocks: readonly Block[];
  readonly usage: Usage | null;
}

const blockMove: fc.Arbitrary<BlockMove> = fc.record({
  kind: fc.constantFrom("text", "reasoning", "tool-call"),
  deltas: fc.oneof(
    { weight: 15, arbitrary: some(oddText, 9) },
    {
      weight: 1,
      arbitrary: fc.array(oddText, { minLength: 30, maxLength: 40 }),
    },
  ),
  framed: fc.boolean(),
  endsLate: fc.boolean(),
  rewritten: seldom(oddText),
  callId: oddName,
  name: oddName,
  named: fc.constantFrom("first", "all"),
  tracedAt: seldom(fc.nat({ max: 6 })),
});

/** Attempts with up to three blocks; an empty stream too. */
export const attemptMove: fc.Arbitrary<AttemptMove> = fc.record({
  blocks: some(blockMove, 3),
  usage: fc.option(usage, { freq: 4 }),
  cut: fc.boolean(),
});

/** Streams an attempt into the open step; `finishOf` sees the blocks and gives the finish reason. */
export function streamAttempt(
  writer: LogWriter,
  attempt: AttemptMove,
  finishOf: (blocks: readonly Block[]) => { readonly kind: string },
): Streamed {
  const { turn, step } = writer.state;
  const seqs: number[] = [];
  const blocks: Block[] = [];
  const send = (chunk: object): void => {
    seqs.push(writer.append("assistant/chunk", { turn, step, chunk }));
  };
  let late: object | null = null;
  const taken = new Set<string>();
  for (const [index, move] of attempt.blocks.entries()) {
    const callId = freeId(move.callId, taken);
    const block = blockOf(move, callId, attempt.cut);
    if (move.framed) send({ type: "block-start", index, blockType: move.kind });
    if (late) send(late);
    late = null;
    for (const chunk of deltasOf(move, index, callId)) send(chunk);
    const end = { type: "block-end", index, block };
    if (move.framed && (move.endsLate || attempt.cut)) late = end;
    else if (move.framed) send(end);
    if (move.framed || move.deltas.length > 0) blocks.push(block);
  }
  const reason = finishOf(blocks);
  const broken = reason.kind === "error" || reason.kind === "aborted";
  if (late && !(attempt.cut && broken)) send(late);
  if (attempt.usage) send({ type: "usage", usage: attempt.usage });
  send({ type: "finish", reason });
  return { seqs, blocks, usage: attempt.usage };
}

function deltasOf(move: BlockMove, index: number, id: string): object[] {
  return move.deltas.map((text, at) => {
    const trace = move.tracedAt === at ? { trace: "t" } : {};
    if (move.kind !== "tool-call")
      return { type: `${move.kind}-delta`, index, text, ...trace };
    const name = at === 0 || move.named === "all" ? { name: move.name } : {};
    return {
      type: "tool-call-delta",
      index,
      id,
      ...name,
      argumentsDelta: text,
      ...trace,
    };
  });
}

function blockOf(move: BlockMove, id: string, cut: boolean): Block {
  const joined = move.deltas.join("");
  const text = move.framed && !cut ? (move.rewritten ?? joined) : joined;
  return move.kind === "tool-call"
    ? { type: "tool-call", id, name: move.name, arguments: text }
    : { type: move.kind, text };
}

/** Call ids are unique within a step; the same id may come again in a later one. */
function freeId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  while (taken.has(id)) id += "'";
  taken.add(id);
  return id;
}
