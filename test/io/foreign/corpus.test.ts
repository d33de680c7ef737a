import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { member, type SessionEvent } from "../../../src/events/event.ts";
import {
  isJsonArray,
  parseJson,
  type JsonValue,
} from "../../../src/events/json.ts";
import {
  convertForeignLog,
  type ForeignFormat,
} from "../../../src/io/foreign/convert.ts";
import {
  convertedFiles,
  corpusMissing,
  foreignFiles,
} from "../../support/logs.ts";
import { ours } from "../../support/derived.ts";
import { readLog } from "../../support/reference-log.ts";
import {
  eventTexts,
  expectBeginningsToBePrefixes,
  expectLegal,
  useTranscripts,
} from "./transcripts.ts";

useTranscripts();

const files: [ForeignFormat, string][] = [
  ...foreignFiles("claude").map((file): [ForeignFormat, string] => [
    "claude-code",
    file,
  ]),
  ...foreignFiles("codex-fork").map((file): [ForeignFormat, string] => [
    "codex",
    file,
  ]),
  ...foreignFiles("pi").map((file): [ForeignFormat, string] => ["pi", file]),
];

const named = files.map(([format, file]): [string, ForeignFormat, string] => [
  basename(file),
  format,
  file,
]);

describe("recorded transcripts", () => {
  it("are there to be tried", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    expect(files).toHaveLength(5);
  });

  it.each(named)(
    "%s breaks no rule, and converts the same again",
    async (_name, format, file) => {
      const log = await convertForeignLog(format, file);
      const again = await convertForeignLog(format, file);

      expectLegal(log);
      expect(eventTexts(again)).toEqual(eventTexts(log));
      expect(again.notes).toEqual(log.notes);
    },
  );

  it("of Claude Code count the last report of each message once", async ({
    skip,
  }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    for (const file of foreignFiles("claude")) {
      const lines = readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map(parseJson);
      const outputs = new Map(
        lines.flatMap((line): [JsonValue, number][] => {
          const message = member(line, "message");
          const output = member(member(message, "usage"), "output_tokens");
          return typeof output === "number"
            ? [[member(message, "id") ?? null, output]]
            : [];
        }),
      );
      const { events } = await convertForeignLog("claude-code", file);

      expect(
        sum(
          events.map(({ event }) =>
            member(member(event.data, "usage"), "outputTokens"),
          ),
        ),
      ).toBe(sum([...outputs.values()]));
    }
  });

  it.for([
    ["claude-code", "claude"],
    ["pi", "pi"],
  ] as const)(
    "of %s say what others' conversions of them say",
    async ([format, folder], { skip }) => {
      skip(corpusMissing !== null, corpusMissing ?? "");
      for (const file of foreignFiles(folder)) {
        const theirs = convertedFiles().find((each) =>
          each.includes(basename(file, ".jsonl")),
        );
        const { events } = await convertForeignLog(format, file);

        expect(said(events.map(({ event }) => event))).toEqual(
          said(ours(readLog(theirs ?? "")).events),
        );
      }
    },
  );

  it.each(
    named.filter(
      ([name]) => name.startsWith("apanloco") || name.includes("parent"),
    ),
  )(
    "%s gives the same log with more behind it as it grows",
    async (_name, format, file) => {
      const lines = readFileSync(file, "utf8").trim().split("\n");

      await expectBeginningsToBePrefixes(format, lines, 6);
    },
  );
});

function sum(counts: readonly (JsonValue | undefined)[]): number {
  return counts.reduce<number>((total, count) => total + Number(count ?? 0), 0);
}

/**
 * What person, model and tools said, without what conversions tell differently: injected context, images, and calls of
 * answers that were cut off.
 */
function said(events: readonly SessionEvent[]): readonly JsonValue[] {
  return events.flatMap(({ type, data, surfaceOp }) => {
    if (surfaceOp !== "append") return [];
    const message = type === "user/message" ? data : member(data, "message");
    const kind = member(member(message, "source"), "kind") ?? null;
    const content = member(message, "content");
    const blocks = content !== undefined && isJsonArray(content) ? content : [];
    const isCutOff = member(data, "interrupted") === true;
    const parts = blocks
      .filter((block) => !isCutOff || member(block, "type") !== "tool-call")
      .flatMap(partOf);
    return kind === "plugin" || parts.length === 0 ? [] : [[kind, ...parts]];
  });
}

function partOf(block: JsonValue): readonly JsonValue[] {
  const args = member(block, "arguments");
  const id = member(block, "id") ?? member(block, "toolCallId");
  const isError = member(block, "isError") === true;
  if (typeof args === "string") return [id ?? null, parseJson(args)];
  if (id !== undefined) return [id, isError];
  return [member(block, "text") ?? null];
}
