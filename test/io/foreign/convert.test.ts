import { appendFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  convertForeignLog,
  FOREIGN_FORMATS,
} from "../../../src/io/foreign/convert.ts";
import { user } from "./claude-lines.ts";
import {
  convert,
  eventTexts,
  noteTexts,
  outline,
  refusalOf,
  useTranscripts,
  writeTranscript,
} from "./transcripts.ts";

useTranscripts();

const prompt = user(1, "Hi");

describe("a transcript", () => {
  it("converts to the same log each time", async () => {
    const file = await writeTranscript([prompt, user(2, "Again")]);

    const first = await convertForeignLog("claude-code", file);
    const second = await convertForeignLog("claude-code", file);

    expect(eventTexts(second)).toEqual(eventTexts(first));
    expect(second.header).toEqual(first.header);
  });

  it("without an id of its own has the name of its file", async () => {
    const file = await writeTranscript(
      [
        {
          type: "user",
          timestamp: "2031-01-01T00:00:00",
          message: { content: "Hi" },
        },
      ],
      "my-session",
    );

    const { header } = await convertForeignLog("claude-code", file);

    expect(header).toMatchObject({
      id: "my-session",
      createdAt: Date.UTC(2031, 0, 1),
    });
  });

  it("from before 1970 is created at its beginning, since no header is older", async () => {
    const { header, events } = await convert("claude-code", [
      { ...prompt, timestamp: "1969-12-31T23:59:59Z" },
    ]);

    expect(header.createdAt).toBe(0);
    expect(events[0]?.event.time).toBe(-1_000);
  });

  it("that ends within a line is taken up to there, with a note", async () => {
    const file = await writeTranscript([prompt]);
    await appendFile(file, '{"type":"user","mess');

    const log = await convertForeignLog("claude-code", file);

    expect(outline(log).at(-1)).toBe("user/message user Hi");
    expect(noteTexts(log)).toEqual([
      "1 lines cut off at the end of the file (line 2)",
    ]);
  });

  it.each([
    ["no JSON", "{oops"],
    ["no object", "[1]"],
    ["-0", '{"n":-0}'],
    ["a number beyond all", '{"n":1e999}'],
  ])("with a line that is %s is refused with that line", async (_what, bad) => {
    const refusal = await refusalOf("claude-code", [prompt, bad, prompt]);

    expect(refusal.line).toBe(2);
  });

  it("passes over blank lines", async () => {
    const log = await convert("claude-code", [prompt, "", user(2, "Again")]);

    expect(log.events.at(-1)?.line).toBe(3);
  });

  it("keeps text as it is, NUL and lone surrogates too", async () => {
    const odd = "a\u0000b\ud99c__proto__";
    const log = await convert("claude-code", [user(1, odd)]);

    expect(outline(log).at(-1)).toBe(`user/message user ${odd}`);
  });

  it.each(FOREIGN_FORMATS)("that is empty is refused: %s", async (format) => {
    expect(await refusalOf(format, [])).toEqual({
      line: null,
      reason: "the file is empty",
    });
  });

  it.each(FOREIGN_FORMATS)(
    "that is of something else is refused: %s",
    async (format) => {
      expect(await refusalOf(format, [{ type: "none" }])).toMatchObject({
        line: 1,
      });
    },
  );

  it("that is not there is refused", async () => {
    const file = await writeTranscript([]);
    await writeFile(file, "");

    await expect(convertForeignLog("pi", `${file}.none`)).rejects.toThrow(
      "can't be read",
    );
  });
});
