/** Which session a Claude Code transcript is of, and how much of it was copied from the session before. */
import { textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { refuse } from "./refuse.ts";

export interface ClaudeSession {
  readonly id: string;
  /** The session whose lines stand at the beginning; null when all are its own. */
  readonly parent: string | null;
  /** Position of the first line that is its own. */
  readonly ownStart: number;
}

/**
 * A resumed or forked session begins with copies of another's lines: they have that one's id, or name it as their origin.
 * @param name stands for an id where the transcript has none
 * @throws LogFileError where lines of another session stand among its own
 */
export function sessionOf(
  lines: readonly ForeignLine[],
  name: string,
): ClaudeSession {
  const ids = lines.map(({ value }) => textAt(value, "sessionId"));
  const id = ids.findLast((known) => known !== null) ?? name;
  const origins = lines.map(({ value }, at) => {
    const origin = textAt(value, "forkedFrom", "sessionId");
    return origin ?? (ids[at] === id ? null : (ids[at] ?? null));
  });
  const lastCopy = origins.findLastIndex((origin) => origin !== null);
  const stray = lines.find(
    (_line, at) => at < lastCopy && ids[at] === id && origins[at] === null,
  );
  if (stray !== undefined)
    return refuse(
      lines[lastCopy]?.number ?? null,
      `is of session ${origins[lastCopy] ?? ""}, but line ${stray.number} before it is of ${id}: two sessions are mixed in this file`,
    );
  return { id, parent: origins[lastCopy] ?? null, ownStart: lastCopy + 1 };
}
