/**
 * The tree of a Claude Code transcript. Each line names the one it follows; calls that run side by side, and lines that
 * only watch, hang off the way from the first line to the last without being branches.
 */
import { holdsResults, isMessage } from "./claude-lines.ts";
import { textAt } from "./fields.ts";
import type { ForeignLine } from "./foreign-lines.ts";
import { refuse } from "./refuse.ts";

/** @throws LogFileError where a second branch begins: a prompt or an answer that the last line does not come from */
export function checkSingleBranch(lines: readonly ForeignLine[]): void {
  const way = wayToLast(lines);
  const messages = new Set(
    lines
      .filter((line) => way.has(line))
      .map(({ value }) => textAt(value, "message", "id")),
  );
  const aside = lines.find(
    (line) => !way.has(line) && isBranch(line, messages),
  );
  if (aside === undefined) return;
  const back = lines.find(
    (line) => line.number > aside.number && way.has(line),
  );
  const forked = back ?? aside;
  refuse(
    forked.number,
    `the transcript has several branches: the conversation goes on from before line ${aside.number}, and only one branch can be imported`,
  );
}

/** True for what can't hang off the way without being a branch. */
function isBranch(
  line: ForeignLine,
  messages: ReadonlySet<string | null>,
): boolean {
  const { value } = line;
  if (textAt(value, "uuid") === null) return false;
  if (value["type"] === "assistant") {
    const id = textAt(value, "message", "id");
    return id === null || !messages.has(id);
  }
  return (
    value["type"] === "user" && value["isMeta"] !== true && !holdsResults(line)
  );
}

/** The last message and all that it comes from; where a line names no known line, it follows the one before it. */
function wayToLast(lines: readonly ForeignLine[]): ReadonlySet<ForeignLine> {
  const byUuid = new Map(
    lines.map((line, at) => [textAt(line.value, "uuid"), at]),
  );
  const way = new Set<ForeignLine>();
  let at = lines.findLastIndex(isMessage);
  for (let line = lines[at]; line !== undefined; line = lines[at]) {
    way.add(line);
    const parent = textAt(line.value, "parentUuid");
    const known = parent === null ? undefined : byUuid.get(parent);
    at = known !== undefined && known < at ? known : at - 1;
  }
  return way;
}
