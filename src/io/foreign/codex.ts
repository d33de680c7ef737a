/** Transcripts of Codex (rollouts): a header, then response items and events, with counters of tokens that only grow. */
import type { JsonValue } from "../../events/json.ts";
import { isSeq } from "../../events/json.ts";
import { CodexConverter } from "./codex-converter.ts";
import { findOwnPart } from "./codex-fork.ts";
import { fieldAt, textAt, timeOf } from "./fields.ts";
import { headerOf } from "./foreign-header.ts";
import { refuse } from "./refuse.ts";
import type { Draft, Transcript } from "./transcript.ts";

/** @throws LogFileError when the file is no rollout, or turns were taken back in it */
export function convertCodex({ lines, notes }: Transcript): Draft {
  const [first] = lines;
  const meta = fieldAt(first?.value, "payload");
  const id = textAt(meta, "id");
  if (
    first === undefined ||
    first.value["type"] !== "session_meta" ||
    id === null
  )
    return refuse(
      first?.number ?? null,
      'the first line is no header of Codex ({"type":"session_meta","payload":{"id":…}})',
    );
  const forkedFrom = textAt(meta, "forked_from_id");
  const isFork = forkedFrom !== null;
  const converter = new CodexConverter(id, meta, notes, isFork);
  const own = isFork ? findOwnPart(lines) : null;
  let seedLength: number | null = null;
  for (const [at, line] of lines.entries()) {
    if (at === own?.start) seedLength = converter.endInherited(line);
    if (at > 0) converter.take(line);
  }
  if (own !== null) {
    seedLength ??= converter.endInherited(lines.at(-1) ?? first);
    const line = lines[own.start]?.number ?? null;
    notes.add(line, `inherited events, up to ${own.sign}`, seedLength);
  }
  // Versions that write events report tokens behind each response: without a report, it may go on.
  converter.finish(!lines.some(({ value }) => value["type"] === "event_msg"));
  const delegation = delegationOf(fieldAt(meta, "source"));
  const header = headerOf({
    id,
    createdAt: timeOf(fieldAt(meta, "timestamp")) ?? first.time,
    cwd: textAt(meta, "cwd"),
    parentSession: forkedFrom ?? delegation?.parent ?? null,
    seedLength,
    delegationDepth: delegation?.depth ?? null,
  });
  return { header, events: converter.events };
}

interface Delegation {
  readonly parent: string | null;
  readonly depth: number;
}

/** Who started a sub-agent; null for a session that a person started. */
function delegationOf(source: JsonValue | undefined): Delegation | null {
  const subagent = fieldAt(source, "subagent");
  if (subagent === undefined) return null;
  const depth = fieldAt(subagent, "thread_spawn", "depth");
  return {
    parent: textAt(subagent, "thread_spawn", "parent_thread_id"),
    depth: isSeq(depth) ? depth : 1,
  };
}
