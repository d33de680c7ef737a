/** What commands print: tables for people, JSON for programs, progress on a terminal's last line. */

export type Cell = string | number | boolean | null;

/** Prints rows as a table: numbers to the right, nothing for null. */
export function printTable(
  rows: readonly Readonly<Record<string, Cell>>[],
): void {
  const columns = Object.keys(rows[0] ?? {});
  const isNumeric = (column: string): boolean =>
    rows.every(
      (row) => row[column] === null || typeof row[column] === "number",
    );
  const lines = [
    columns,
    ...rows.map((row) =>
      columns.map((column) => cellText(row[column] ?? null)),
    ),
  ];
  const widths = columns.map((_, at) =>
    lines.reduce(
      (width, line) => Math.max(width, displayWidth(line[at] ?? "")),
      0,
    ),
  );
  for (const line of lines) {
    const cells = line.map((cell, at) =>
      pad(cell, widths[at] ?? 0, isNumeric(columns[at] ?? "")),
    );
    console.log(cells.join("  ").trimEnd());
  }
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

/** A line that replaces itself on a terminal; elsewhere nothing. */
export class Progress {
  readonly #isTerminal = process.stderr.isTTY;
  #lastAt = 0;

  /** @param text made only when it is shown, ten times a second at most */
  show(text: () => string): void {
    const now = performance.now();
    if (!this.#isTerminal || now - this.#lastAt < 100) return;
    this.#lastAt = now;
    process.stderr.write(`\r\x1b[2K${text()}`);
  }

  clear(): void {
    if (this.#isTerminal) process.stderr.write("\r\x1b[2K");
  }
}

/** Shortens a text to a width on a terminal, on one line, never inside a character as people see it. */
export function shorten(text: string, width: number): string {
  const line = printable(text).replaceAll(/\s+/g, " ").trim();
  if (displayWidth(line) <= width) return line;
  let shown = "";
  for (const { segment } of graphemes.segment(line)) {
    if (displayWidth(shown) + displayWidth(segment) > width - 1) break;
    shown += segment;
  }
  return `${shown.trimEnd()}…`;
}

/** A count with its noun: `1 file`, `2,000 files`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** `1,234,567`. */
export function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}

/** A time in epoch ms as `2026-11-30 22:01:37Z`; the bare number where no calendar has it. */
export function formatTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime())
    ? String(timeMs)
    : `${date.toISOString().slice(0, 19).replace("T", " ")}Z`;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Columns that a text takes: East Asian wide characters and emoji take two. */
function displayWidth(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width +=
      /^[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]|\p{Extended_Pictographic}|\p{Regional_Indicator}/u.test(
        segment,
      )
        ? 2
        : 1;
  }
  return width;
}

function pad(text: string, width: number, isRight: boolean): string {
  const spaces = " ".repeat(Math.max(0, width - displayWidth(text)));
  return isRight ? spaces + text : text + spaces;
}

/** Control characters would move the cursor of a terminal, or worse: they are shown as what they are not. */
export function printable(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]/gu, "\uFFFD");
}

/** The same on one line: a name with a line feed can't look like a line of its own. */
export function printableLine(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "\uFFFD");
}

function cellText(cell: Cell): string {
  return typeof cell === "number"
    ? Number.isInteger(cell)
      ? formatCount(cell)
      : String(cell)
    : printableLine(String(cell ?? ""));
}
