/** Transcripts of Claude Code: a line for each block of an answer and for each input, among lines about the program. */
import { groupAnswers, readAnswer, settledEnd } from "./claude-answers.ts";
import { ClaudeConverter } from "./claude-converter.ts";
import { sessionOf } from "./claude-session.ts";
import { mainLines } from "./claude-lines.ts";
import { checkSingleBranch } from "./claude-tree.ts";
import { textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { headerOf } from "./foreign-header.ts";
import { HELD_BACK } from "./held-back.ts";
import { refuse } from "./refuse.ts";
import type { Draft, Transcript } from "./transcript.ts";

/** @throws LogFileError when the file is no transcript of Claude Code, or has several branches */
export function convertClaudeCode({ lines, notes, name }: Transcript): Draft {
  const main = mainLines(lines, notes);
  checkSingleBranch(main);
  const session = sessionOf(main, name);
  const answers = groupAnswers(main);
  const end = settledEnd(main, answers);
  const heldBack = main[end];
  if (heldBack !== undefined) notes.add(heldBack.number, HELD_BACK);
  const converter = new ClaudeConverter(session.id, notes);
  let seedLength: number | null = null;
  for (const [at, line] of main.slice(0, end).entries()) {
    if (session.parent !== null && at === session.ownStart)
      seedLength = converter.endInherited(line);
    // An answer is taken whole where its first line stands.
    const answer = answers.get(line);
    if (answer !== undefined) converter.answer(readAnswer(line, answer, notes));
    else if (line.value["type"] !== "assistant") converter.take(line);
  }
  const [first = refuse(null, "the file is empty")] = main;
  if (session.parent !== null)
    seedLength ??= converter.endInherited(main[end - 1] ?? first);
  const header = headerOf({
    id: session.id,
    createdAt: first.time,
    cwd: firstText(main, "cwd"),
    parentSession: session.parent,
    seedLength,
  });
  return { header, events: converter.events };
}

function firstText(lines: readonly ForeignLine[], key: string): string | null {
  return (
    lines
      .map(({ value }) => textAt(value, key))
      .find((text) => text !== null) ?? null
  );
}
