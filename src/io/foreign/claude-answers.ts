/** Answers of a Claude Code transcript: each block of one is a line of its own, with the id of the message they share. */
import type { JsonObject } from "../../events/json.ts";
import type { Block } from "./blocks.ts";
import { claudeBlocks, claudeUsage } from "./claude-blocks.ts";
import { isInput } from "./claude-lines.ts";
import type { ConversionNotes } from "./conversion-notes.ts";
import { fieldAt, textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";

/** The lines of an answer. */
export interface AnswerLines {
  readonly lines: readonly ForeignLine[];
  /** Of the last of them, before inputs come between: results of its first calls may, when they are quick. */
  readonly time: number;
}

/** A message of the model, put together from its lines. */
export interface ClaudeAnswer {
  readonly first: ForeignLine;
  readonly time: number;
  readonly id: string | null;
  readonly model: string | null;
  readonly content: readonly Block[];
  /** The last report: those of earlier lines are of a stream that was still on. */
  readonly usage: JsonObject | null;
  /** Why it ended; null where no line says it. */
  readonly stop: string | null;
}

/** The answers in order, each by the first of its lines. */
export function groupAnswers(
  lines: readonly ForeignLine[],
): ReadonlyMap<ForeignLine, AnswerLines> {
  const answers = new Map<ForeignLine, AnswerLines>();
  const firsts = new Map<string, ForeignLine>();
  /** First line of the answer that no input has followed yet. */
  let latest: ForeignLine | null = null;
  for (const line of lines) {
    if (line.value["type"] === "user") latest = null;
    if (line.value["type"] !== "assistant") continue;
    const id = textAt(line.value, "message", "id");
    const first = (id === null ? undefined : firsts.get(id)) ?? line;
    const known = answers.get(first) ?? { lines: [], time: line.time };
    if (first === line) latest = line;
    if (id !== null) firsts.set(id, first);
    answers.set(first, {
      lines: [...known.lines, line],
      time: first === latest ? line.time : known.time,
    });
  }
  return answers;
}

export function readAnswer(
  first: ForeignLine,
  { lines, time }: AnswerLines,
  notes: ConversionNotes,
): ClaudeAnswer {
  return {
    first,
    time,
    id: textAt(first.value, "message", "id"),
    model: textAt(first.value, "message", "model"),
    content: lines.flatMap(({ value, number }) =>
      claudeBlocks(fieldAt(value, "message", "content"), notes, number),
    ),
    usage:
      lines
        .map(({ value, number }) =>
          claudeUsage(fieldAt(value, "message", "usage"), notes, number),
        )
        .findLast((usage) => usage !== null) ?? null,
    stop: stopOf(lines),
  };
}

/**
 * Where the lines end that can be written. An answer at the end that has no stop reason, in a transcript that has them,
 * may go on: another line of it would change what was written.
 */
export function settledEnd(
  lines: readonly ForeignLine[],
  answers: ReadonlyMap<ForeignLine, AnswerLines>,
): number {
  const groups = [...answers.values()].map((answer) => answer.lines);
  const last = groups.at(-1) ?? [];
  const usesStops = groups.some((group) => stopOf(group) !== null);
  const from = last[0];
  if (from === undefined || !usesStops || stopOf(last) !== null)
    return lines.length;
  const end = lines.findLastIndex((line) => last.includes(line));
  const isFollowed = lines.slice(end + 1).some(isInput);
  return isFollowed ? lines.length : lines.indexOf(from);
}

function stopOf(lines: readonly ForeignLine[]): string | null {
  return (
    lines
      .map(({ value }) => textAt(value, "message", "stop_reason"))
      .findLast((stop) => stop !== null) ?? null
  );
}
