/** Titles fit to be shown: cleaned of what terminals act on, cut between characters as people see them. */
import { storableText } from "./text.ts";

/** Bytes of UTF-8 that a title may have, and one that is made of a prompt. */
const TITLE_BYTES = 80;
const FALLBACK_BYTES = 40;
const FALLBACK_WORDS = 5;

/** A title to show, on one line; null when nothing visible is left of it. */
export function displayTitle(title: string): string | null {
  return textOrNull(truncate(cleanTitle(title), TITLE_BYTES));
}

/** A title made of the first words of a prompt, without what harnesses wrap around it; null when nothing is left. */
export function fallbackTitle(prompt: string): string | null {
  const words = cleanTitle(withoutWrappers(prompt)).split(" ");
  const start = words.slice(0, FALLBACK_WORDS).join(" ");
  return textOrNull(truncate(start, FALLBACK_BYTES));
}

/**
 * Removes escape sequences, control characters and invisible marks, in this order, and makes one space of each run of
 * white space. Joiners stay: they are parts of characters.
 */
export function cleanTitle(text: string): string {
  return storableText(
    text
      .replaceAll(OSC, "")
      .replaceAll(CSI, "")
      .replaceAll(OTHER_ESCAPE, "")
      .replaceAll(/[^\P{Cc}\t\n\r]/gu, "")
      .replaceAll(
        /[\u200B\u200E\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF]/g,
        "",
      ),
  )
    .replaceAll(/\s+/g, " ")
    .trim();
}

const ESC = "\u001B";
const OSC = new RegExp(`(?:${ESC}\\]|\u009D)[^]*?(?:\u0007|${ESC}\\\\|$)`, "g");
const CSI = new RegExp(`(?:${ESC}\\[|\u009B)[0-?]*[ -/]*[@-~]`, "g");
const OTHER_ESCAPE = new RegExp(`${ESC}[@-_]`, "g");

/** What harnesses put into a prompt that no person wrote; of a command, its arguments are what the person wrote. */
const WRAPPERS: readonly string[] = [
  "command-message",
  "command-name",
  "environment_context",
  "local-command-caveat",
  "local-command-stderr",
  "local-command-stdout",
  "skill",
  "system-reminder",
  "user_instructions",
];

function withoutWrappers(text: string): string {
  const stripped = WRAPPERS.reduce(withoutElements, text);
  return stripped
    .replaceAll("<command-args>", " ")
    .replaceAll("</command-args>", " ");
}

/** Takes every element of this name out; one that is not closed goes to the end. Each character is looked at once. */
function withoutElements(text: string, name: string): string {
  const open = new RegExp(`<${name}(?=[\\s>])`, "g");
  const close = `</${name}>`;
  let kept = "";
  let from = 0;
  for (const { index } of text.matchAll(open)) {
    if (index < from) continue;
    kept += text.slice(from, index);
    const end = text.indexOf(close, index);
    from = end < 0 ? text.length : end + close.length;
  }
  return kept + text.slice(from);
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function truncate(text: string, maxBytes: number): string {
  // No character has less than a byte, and so the rest need not be segmented.
  const start = text.slice(0, maxBytes + 1);
  if (start === text && Buffer.byteLength(text) <= maxBytes) return text;
  let kept = "";
  let bytes = 0;
  for (const { segment } of graphemes.segment(text)) {
    bytes += Buffer.byteLength(segment);
    if (bytes > maxBytes) break;
    kept += segment;
  }
  return kept.trimEnd();
}

function textOrNull(text: string): string | null {
  return text === "" ? null : text;
}
