/** Writes transcripts to files, converts them, and tells in short what came of them. */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { member, type SessionEvent } from "../../../src/events/event.ts";
import { isJsonArray, type JsonValue } from "../../../src/events/json.ts";
import { LogAudit } from "../../../src/events/rules/log-audit.ts";
import {
  convertForeignLog,
  type ConvertedLog,
  type ForeignFormat,
} from "../../../src/io/foreign/convert.ts";
import { LogFileError } from "../../../src/io/log-file-error.ts";
import { derivedByReference, derivedByUs } from "../../support/derived.ts";
import { referenceInvariants } from "../../support/reference.ts";

let folder = "";

/** Makes a folder for a test file's transcripts, removed at its end. */
export function useTranscripts(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "turnlog-foreign-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
}

export async function writeTranscript(
  lines: readonly (object | string)[],
  name: string = randomUUID(),
): Promise<string> {
  const file = join(folder, `${name}.jsonl`);
  const texts = lines.map((line) =>
    typeof line === "string" ? line : JSON.stringify(line),
  );
  await writeFile(file, texts.map((text) => `${text}\n`).join(""));
  return file;
}

/** Converts lines, and requires that every rule holds for the log. */
export async function convert(
  format: ForeignFormat,
  lines: readonly (object | string)[],
): Promise<ConvertedLog> {
  const log = await convertForeignLog(format, await writeTranscript(lines));
  expectLegal(log);
  return log;
}

/** Line and reason of the refusal. */
export async function refusalOf(
  format: ForeignFormat,
  lines: readonly (object | string)[],
): Promise<{ readonly line: number | null; readonly reason: string }> {
  const file = await writeTranscript(lines);
  try {
    await convertForeignLog(format, file);
  } catch (error) {
    if (!(error instanceof LogFileError)) throw error;
    return { line: error.line, reason: error.message };
  }
  throw new Error("the transcript was not refused");
}

/** No rule of an append or of a whole log is broken, and the harness' own packages say so too. */
export function expectLegal(log: ConvertedLog): void {
  const { header, events } = log;
  const audit = new LogAudit(header);
  for (const { event, line } of events) audit.add(event, line);
  expect(audit.findings).toEqual([]);
  expect(audit.count).toBe(0);
  expect(events.map(({ event }) => event.seq)).toEqual(
    events.map((_event, seq) => seq),
  );
  if (events.length > 0) expectReferenceToAgree(log);
}

/** The harness' own packages open the log, find nothing wrong with it, and derive from it what we do. */
function expectReferenceToAgree({ header, events }: ConvertedLog): void {
  const log = { header, events: events.map(({ event }) => event) };
  referenceInvariants(log.header, log.events);
  expect(derivedByUs(log)).toEqual(derivedByReference(log));
}

/** Each beginning of a transcript gives a beginning of its log, under the same header. */
export async function expectBeginningsToBePrefixes(
  format: ForeignFormat,
  lines: readonly (object | string)[],
  from = 1,
): Promise<void> {
  const whole = await convert(format, lines);
  const texts = eventTexts(whole);
  for (let count = from; count < lines.length; count += 1) {
    const part = await convert(format, lines.slice(0, count));
    expect(part.header, `header of ${count} lines`).toEqual(whole.header);
    expect(eventTexts(part), `events of ${count} lines`).toEqual(
      texts.slice(0, part.events.length),
    );
  }
}

export function eventTexts({ events }: ConvertedLog): readonly string[] {
  return events.map(({ event }) => JSON.stringify(event));
}

/** The log in short: a line for each event, `user/message plugin "text"`. */
export function outline({ events }: ConvertedLog): readonly string[] {
  return events.map(({ event }) => [event.type, ...tell(event)].join(" "));
}

/** The usage of each answer, in order. */
export function usages({ events }: ConvertedLog): readonly JsonValue[] {
  return events.flatMap(({ event }) => member(event.data, "usage") ?? []);
}

export function noteTexts({ notes }: ConvertedLog): readonly string[] {
  return notes.map(
    ({ line, what, count }) => `${count} ${what} (line ${line ?? "none"})`,
  );
}

function tell({ type, data }: SessionEvent): readonly string[] {
  const message = type === "user/message" ? data : member(data, "message");
  const own = [type === "turn/end" ? member(data, "reason") : undefined];
  const kind = member(member(message, "source"), "kind");
  const blocks = member(message, "content");
  const texts =
    blocks !== undefined && isJsonArray(blocks)
      ? blocks.flatMap(blockText)
      : [];
  const name = type === "tool/call" ? member(data, "callId") : undefined;
  const title = type === "session/title" ? member(data, "title") : undefined;
  return [...own, kind, name, title, ...texts].flatMap((part) =>
    part === undefined
      ? []
      : [typeof part === "string" ? part : JSON.stringify(part)],
  );
}

function blockText(block: JsonValue): readonly JsonValue[] {
  const text = member(block, "text") ?? member(block, "id");
  const content = member(block, "content");
  if (text !== undefined) return [text];
  return content !== undefined && isJsonArray(content)
    ? content.flatMap(blockText)
    : [];
}
