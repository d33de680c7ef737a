/**
 * Data of compactions, which put a summary in the place of older messages, and of prunings of a tool result. That
 * brackets close and ranges fit is not checked here.
 */
import {
  count,
  eventOf,
  json,
  listOf,
  nonEmptyText,
  number,
  open,
  text,
  turn,
  usageReport,
} from "./fields.ts";

const bracket = {
  compactionId: nonEmptyText("Identity of the compaction"),
  sourceCommandId: text("The command that asked for it").optional(),
};

const turnOrNull = turn.nullable().meta({
  description: "The turn it happens in; null between turns",
  shape: "integer ≥ 1 or null",
});

const shadowed = {
  shadowedRange: open(
    {
      start: count("Seq of the first of them"),
      end: count("Seq of the last of them, by place on the surface"),
    },
    "What the replacement hides",
  ),
  shadowedSeqs: listOf(
    count("A seq"),
    "Seqs of all that it hides, in the order of the surface",
  ),
  shadowedTokenCount: count("Estimated tokens of what it hides"),
};

export const compactionSchemas = {
  "compaction/start": eventOf(
    "anywhere",
    "A compaction begins: in the open turn, or between turns.",
    open({ ...bracket, turn: turnOrNull }),
  ),
  "compaction/summary": eventOf(
    "in a compaction",
    "The summary is there; the message that replaces follows at once.",
    open({
      ...bracket,
      summary: listOf(json("A block"), "Blocks of the summary"),
      ...shadowed,
      provider: text("Provider of the model that wrote it"),
      model: text("Model that wrote it"),
      maxTokens: number("Most tokens it was allowed").optional(),
      usage: usageReport,
      rawOutput: json("What the model wrote, before it was cleaned").optional(),
      llmStreamCall: json(
        "True when it was an ordinary streamed request",
      ).optional(),
    }),
  ),
  "compaction/end": eventOf(
    "in a compaction",
    "The compaction is over.",
    open({
      ...bracket,
      turn: turnOrNull,
      error: json("Why it failed; then nothing was replaced").optional(),
    }),
  ),
  "compaction/prune": eventOf(
    "in a turn",
    "The next event puts a shorter tool result in the place of an earlier one.",
    open(shadowed),
  ),
} as const;
