/** A compaction as our log says it: the bracket, the summary, and the checkpoint that takes the place of what it hides. */
import { textBlock } from "./blocks.ts";
import type { EventList } from "./event-list.ts";
import type { Shadowed } from "./surface-nodes.ts";

export interface Compaction {
  readonly id: string;
  /** Id of the checkpoint message. */
  readonly messageId: string;
  readonly summary: string;
  readonly provider: string;
  readonly model: string;
}

/** Writes a compaction that hides `shadowed`, and returns the seq of its checkpoint. */
export function writeCompaction(
  list: EventList,
  turn: number | null,
  shadowed: Shadowed,
  { id: compactionId, messageId, summary, provider, model }: Compaction,
): number {
  const { seqs, tokens } = shadowed;
  const [start] = seqs;
  const end = seqs.at(-1) ?? start;
  const content = [textBlock(summary)];
  const first = list.nextSeq;
  list.append("compaction/start", { compactionId, turn });
  list.append("compaction/summary", {
    compactionId,
    summary: content,
    shadowedRange: { start, end },
    shadowedSeqs: seqs,
    shadowedTokenCount: tokens,
    provider,
    model,
  });
  const source = { kind: "plugin", plugin: "compact", compactionId };
  const checkpoint = list.nextSeq;
  list.append(
    "user/message",
    { id: messageId, role: "user", content, source },
    {
      sourceEventSeqs: [first, first + 1, ...seqs],
      surfaceOp: { op: "replace", start, end },
    },
  );
  list.append("compaction/end", { compactionId, turn });
  return checkpoint;
}
