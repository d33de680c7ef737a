import { randomUUID } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { importFile } from "../../src/io/import-file.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import {
  header,
  prompt,
  run,
  stepStart,
  turnEnd,
  turnStart,
  textOf,
  useLogFolder,
  type LogLine,
} from "./log-files.ts";

const database = useTestDatabase();
const { write, writeBytes } = useLogFolder();

/** Each as line 4, behind two events: what is wrong, what the reason says, the line. */
const FAULTS: readonly (readonly [string, string, LogLine])[] = [
  ["that is no JSON", "the line is not JSON", '{"type":"turn/e'],
  ["that is blank", "the line is not JSON", ""],
  ["that is null", "the line is not a JSON object", "null"],
  ["that is a list", "the line is not a JSON object", "[1]"],
  ["behind a gap", "seq is 3, but seq 2 comes next", { ...prompt, seq: 3 }],
  ["that steps back", "seq is 1, but seq 2 comes next", stepStart],
  ["without seq", "seq is undefined, but seq 2 comes next", {}],
  [
    "with a seq in quotes",
    'seq is "2", but seq 2 comes next',
    { ...prompt, seq: "2" },
  ],
  [
    "that packs an earlier event",
    "seq is 1, but seq 2 comes next",
    { ...run, seq0: 1 },
  ],
  [
    "that packs nothing",
    "data.texts must be a non-empty array",
    { ...run, seq0: 2, data: { ...run.data, texts: [] } },
  ],
  [
    "that packs three events with one gap",
    "data.dt must be 2 gaps",
    { ...run, seq0: 2, data: { ...run.data, dt: [1] } },
  ],
  [
    "that packs a number",
    "data.texts[1] must be a string",
    { ...run, seq0: 2, data: { ...run.data, texts: ["a", 1, "c"] } },
  ],
  [
    "with a further key in a packed row",
    "note is not a key of a packed row",
    { ...run, seq0: 2, note: 1 },
  ],
];

describe("a line", () => {
  it.each(FAULTS)(
    "%s at the end of a file is a torn tail: the events before it are imported",
    async (_what, reason, line) => {
      const { store } = database();
      const id = randomUUID();
      const file = await write(header(id), turnStart, stepStart, line);

      const report = await importFile(store, file);

      expect(report).toMatchObject({
        outcome: "imported",
        events: 2,
        appended: 2,
        tail: { line: 4, reason: expect.stringContaining(reason) },
      });
      expect(await collect(store, id)).toHaveLength(2);
    },
  );

  it.each(FAULTS)(
    "%s is damage when a turn ends behind it: the file is refused",
    async (_what, reason, line) => {
      const { store } = database();
      const id = randomUUID();
      const file = await write(
        header(id),
        turnStart,
        stepStart,
        line,
        '{"torn',
        turnEnd(90),
        "null",
      );

      const report = await importFile(store, file);

      expect(report).toMatchObject({
        outcome: "refused",
        code: "LOG_CORRUPT",
        line: 4,
        appended: 0,
      });
      expect(report.reason).toContain(reason);
      expect(report.reason).toContain("line 6 behind it ends a turn");
      await expect(store.session(id)).rejects.toMatchObject({
        code: "SESSION_NOT_FOUND",
      });
    },
  );

  it("at another place that ends a turn itself is damage", async () => {
    const file = await write(header("x"), turnStart, stepStart, turnEnd(7));

    expect(await importFile(database().store, file)).toMatchObject({
      outcome: "refused",
      line: 4,
      reason:
        "seq is 7, but seq 2 comes next; it ends a turn, so it is no torn tail",
    });
  });

  it.each<[string, Buffer]>([
    ["cut off", Buffer.from('{"type":"turn/end","seq":1')],
    ["cut off in the middle of a character", Buffer.from([0x22, 0xe2, 0x82])],
    ["no UTF-8", Buffer.from([0x22, 0xe9, 0x22, 0x0a])],
  ])("that is %s is left out, and the rest imported", async (_what, bytes) => {
    const { store } = database();
    const file = await writeBytes(
      Buffer.concat([
        Buffer.from(textOf(header(randomUUID()), turnStart)),
        bytes,
      ]),
    );

    expect(await importFile(store, file)).toMatchObject({
      outcome: "imported",
      events: 1,
      tail: { line: 3 },
    });
  });

  it("that breaks a rule is no torn tail", async () => {
    const file = await write(header("x"), turnStart, { ...turnStart, seq: 1 });

    expect(await importFile(database().store, file)).toMatchObject({
      outcome: "refused",
      code: "RULE_BROKEN",
      line: 3,
    });
  });
});

describe("a file with a torn tail", () => {
  it("is extended once its writer has gone on", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await writeBytes(
      `${textOf(header(id), turnStart)}${JSON.stringify(stepStart)}`,
    );
    await importFile(store, file);
    await appendFile(file, `\n${JSON.stringify(prompt)}\n`);

    expect(await importFile(store, file)).toMatchObject({
      outcome: "extended",
      events: 3,
      appended: 2,
      tail: null,
    });
  });

  it("whose header alone is whole is empty", async () => {
    const file = await writeBytes(`${textOf(header(randomUUID()))}{"type`);

    expect(await importFile(database().store, file)).toMatchObject({
      outcome: "empty",
      events: 0,
      tail: { line: 2 },
    });
  });

  it.each<[string, string | Buffer, string]>([
    ["no line feed at all", JSON.stringify(header("x")), "the line is cut off"],
    ["no bytes", "", "there is no header line"],
    ["a header that is no text", Buffer.from([0xe9, 0x0a]), "UTF-8"],
  ])(
    "that has %s has no header to begin with",
    async (_what, bytes, reason) => {
      const file = await writeBytes(bytes);

      const report = await importFile(database().store, file);

      expect(report).toMatchObject({
        outcome: "refused",
        code: "LOG_CORRUPT",
        line: 1,
      });
      expect(report.reason).toContain(reason);
    },
  );
});
