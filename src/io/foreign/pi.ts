/** Transcripts of the pi coding agent: a header, then entries that form a tree, which must have one branch. */
import { textAt } from "./fields.ts";
import { headerOf } from "./foreign-header.ts";
import { PiConverter } from "./pi-converter.ts";
import { checkSingleBranch, parentOf } from "./pi-tree.ts";
import { refuse } from "./refuse.ts";
import type { Draft, Transcript } from "./transcript.ts";

/** @throws LogFileError when the file is no transcript of pi, or has several branches */
export function convertPi({ lines, notes }: Transcript): Draft {
  const [first, ...entries] = lines;
  const id = textAt(first?.value, "id");
  if (first === undefined || first.value["type"] !== "session" || id === null)
    return refuse(
      first?.number ?? null,
      'the first line is no header of pi ({"type":"session","id":…})',
    );
  checkSingleBranch(entries);
  const parentSession = parentOf(first.value);
  const converter = new PiConverter(id, first.value, notes);
  // A branch begins with copies of the parent's entries, which keep their times.
  const own =
    parentSession === null
      ? 0
      : entries.filter(({ time }) => time < first.time).length;
  let seedLength: number | null = null;
  for (const [at, entry] of entries.entries()) {
    if (at === own && parentSession !== null)
      seedLength = converter.endInherited();
    converter.take(entry, at + 1);
  }
  if (parentSession !== null) {
    seedLength ??= converter.endInherited();
    const sign = "from entries that are older than the session";
    notes.add(
      entries[own]?.number ?? null,
      `inherited events, ${sign}`,
      seedLength,
    );
  }
  const header = headerOf({
    id,
    createdAt: first.time,
    cwd: textAt(first.value, "cwd"),
    parentSession,
    seedLength,
  });
  return { header, events: converter.events };
}
