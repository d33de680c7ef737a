/** Converts a transcript of another agent into a session log of ours: events that pass every rule, and what was lost. */
import { basename } from "node:path";
import type { SessionHeader } from "../../events/header.ts";
import { convertClaudeCode } from "./claude-code.ts";
import { convertCodex } from "./codex.ts";
import { ConversionNotes, type ConversionNote } from "./conversion-notes.ts";
import { readForeignLines } from "./foreign-lines.ts";
import { convertPi } from "./pi.ts";
import { refuse } from "./refuse.ts";
import type { Draft, PlacedEvent, Transcript } from "./transcript.ts";

export const FOREIGN_FORMATS = ["claude-code", "codex", "pi"] as const;

export type ForeignFormat = (typeof FOREIGN_FORMATS)[number];

export interface ConvertedLog {
  readonly header: SessionHeader;
  /** Seqs are dense from 0. */
  readonly events: readonly PlacedEvent[];
  /** What could not be expressed, by kind. */
  readonly notes: readonly ConversionNote[];
}

const CONVERTERS: Readonly<
  Record<ForeignFormat, (transcript: Transcript) => Draft>
> = {
  "claude-code": convertClaudeCode,
  codex: convertCodex,
  pi: convertPi,
};

/**
 * Converts a transcript that has one branch. Holds all of it in memory. The same file gives the same events, ids and
 * times each time, and a transcript that has grown gives the same events with more behind them.
 * @throws LogFileError naming the line
 */
export async function convertForeignLog(
  format: ForeignFormat,
  file: string,
): Promise<ConvertedLog> {
  const notes = new ConversionNotes();
  const lines = await readForeignLines(file, notes);
  if (lines.length === 0) refuse(null, "the file is empty");
  const name = basename(file).replace(/(?:\.jsonl)?(?:\.zst)?$/, "");
  const { header, events } = CONVERTERS[format]({ lines, notes, name });
  return { header, events, notes: notes.list() };
}
