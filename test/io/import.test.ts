import { randomUUID } from "node:crypto";
import { truncateSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { importFile } from "../../src/io/import-file.ts";
import { createSessionStore } from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import {
  header,
  prompt,
  run,
  stepStart,
  turnStart,
  useLogFolder,
} from "./log-files.ts";

const database = useTestDatabase();
const folder = useLogFolder();
const { write } = folder;

const replace = {
  ...prompt,
  seq: 3,
  surfaceOp: { op: "replace", start: 2, end: 2 },
  sourceEventSeqs: [2],
};

function feedback(count: number): object[] {
  return Array.from({ length: count }, (_, seq) => ({
    type: "feedback/record",
    seq,
    time: seq,
    data: { text: `note ${seq}` },
  }));
}

describe("a file that is cut while it is imported", () => {
  it("is refused with how far it had come, and goes on from there once it is whole", async () => {
    const { store } = database();
    const id = randomUUID();
    const whole = await write(header(id), ...feedback(20_000));
    const file = await write(header(id), ...feedback(20_000));

    const report = await importFile(store, file, {
      onProgress: ({ phase }) => {
        if (phase === "append") truncateSync(file, 1_000_000);
      },
    });

    const { head } = await store.session(id);
    expect(report).toMatchObject({
      outcome: "refused",
      code: "FILE_CHANGED",
      appended: head,
    });
    expect(head).toBeLessThan(20_000);
    expect(await importFile(store, whole)).toMatchObject({
      outcome: "extended",
      appended: 20_000 - head,
    });
  });
});

describe("a line that never ends", () => {
  it("is refused before it fills the memory, and the file behind it is not read", async () => {
    const file = await write(header("x"));
    truncateSync(file, 10 * 1024 ** 3);

    expect(await importFile(database().store, file)).toMatchObject({
      outcome: "refused",
      code: "EVENT_TOO_LARGE",
      line: 2,
    });
  });
});

describe("importing a file again", () => {
  it("changes nothing and says so", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const file = await write(header(id), turnStart, stepStart, prompt, run);
    await importFile(store, file);
    const before = await db.rows(
      {
        text: "select * from turnlog.events where session_id = $1 order by seq",
      },
      [id],
    );

    const again = await importFile(store, file);

    expect(again).toMatchObject({
      outcome: "unchanged",
      sessionId: id,
      events: 6,
      appended: 0,
    });
    expect(
      await db.rows(
        {
          text: "select * from turnlog.events where session_id = $1 order by seq",
        },
        [id],
      ),
    ).toEqual(before);
  });

  it("appends only the tail when the file has grown", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await write(header(id), turnStart, stepStart);
    await importFile(store, file);
    await appendFile(file, `${JSON.stringify(prompt)}\n`);

    const again = await importFile(store, file);

    expect(again).toMatchObject({
      outcome: "extended",
      events: 3,
      appended: 1,
    });
    expect(await collect(store, id)).toHaveLength(3);
  });

  it("finds nothing to do when the stored session is longer than the file", async () => {
    const { store } = database();
    const id = randomUUID();
    await importFile(
      store,
      await write(header(id), turnStart, stepStart, prompt),
    );

    expect(
      await importFile(store, await write(header(id), turnStart)),
    ).toMatchObject({ outcome: "unchanged" });
  });

  it("refuses another event under a stored id, with its line", async () => {
    const { store } = database();
    const id = randomUUID();
    await importFile(store, await write(header(id), turnStart, stepStart));
    const other = await write(
      header(id),
      turnStart,
      { ...stepStart, time: 99 },
      prompt,
    );

    const refused = await importFile(store, other);

    expect(refused).toMatchObject({ outcome: "refused", line: 3, appended: 0 });
    expect(refused.reason).toContain(
      `session ${id} is stored already, with another event 1`,
    );
    expect((await store.session(id)).head).toBe(2);
  });

  it("refuses another header under a stored id", async () => {
    const { store } = database();
    const id = randomUUID();
    await importFile(store, await write(header(id), turnStart));

    const refused = await importFile(
      store,
      await write(header(id, { cwd: "/other" }), turnStart, stepStart),
    );

    expect(refused).toMatchObject({ outcome: "refused", line: 1 });
    expect(refused.reason).toContain("with another header");
  });

  it("of two imports of one file at once, none stores an event twice", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await write(header(id), turnStart, stepStart, prompt, run);

    const reports = await Promise.all([
      importFile(store, file),
      importFile(store, file),
    ]);

    expect(reports.some(({ outcome }) => outcome === "imported")).toBe(true);
    expect(await collect(store, id)).toHaveLength(6);
  });
});

describe("two imports of one long file at once", () => {
  it("both end with all of it, and count what each has appended", async () => {
    const { store } = database();
    const id = randomUUID();
    const events = Array.from({ length: 9_000 }, (_, seq) => ({
      type: "feedback/record",
      seq,
      time: seq,
      data: { text: `note ${seq}` },
    }));
    const file = await write(header(id), ...events);

    const reports = await Promise.all([
      importFile(store, file),
      importFile(store, file),
    ]);

    expect(reports.map(({ outcome }) => outcome)).not.toContain("refused");
    expect(reports.reduce((sum, { appended }) => sum + appended, 0)).toBe(
      9_000,
    );
    expect((await store.session(id)).head).toBe(9_000);
  });
});

describe("a file that is refused leaves nothing behind", () => {
  it("for an event that is larger than the store takes, however far into it", async () => {
    await using small = await createSessionStore({
      databaseUrl: database().url,
      maxEventCharacters: 1_000,
    });
    const id = randomUUID();
    const events = Array.from({ length: 2_500 }, (_, seq) => ({
      type: "feedback/record",
      seq,
      time: 1,
      data: { text: seq === 2_400 ? "x".repeat(1_001) : "note" },
    }));

    const report = await importFile(small, await write(header(id), ...events));

    expect(report).toMatchObject({
      outcome: "refused",
      line: 2_402,
      appended: 0,
    });
    await expect(small.session(id)).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
  });

  it.each<[string, number | null, string, readonly (object | string)[]]>([
    ["an empty file", 1, "there is no header line", []],
    ["a header that is no JSON", 1, "the header line is not JSON", ["{"]],
    ["a first line that is no header", 1, "not a session header", [turnStart]],
    [
      "a header without depth",
      1,
      "delegationDepth",
      [{ type: "session", version: 0, id: "x", createdAt: 1 }],
    ],
    [
      "a newer format (B106)",
      1,
      "Upgrade turnlog",
      [header("x", { version: 3 })],
    ],
    [
      "an older format (B106)",
      1,
      "no upgrade path",
      [header("x", { version: -1 })],
    ],
    [
      "a retired header key",
      1,
      "sandboxMode",
      [header("x", { sandboxMode: "a" })],
    ],
    [
      "a byte-order mark",
      1,
      "not JSON",
      [`\uFEFF${JSON.stringify(header("x"))}`, turnStart],
    ],
    [
      "an unknown required type",
      2,
      "does not know",
      [header("x"), { ...turnStart, type: "plugin/thing" }],
    ],
    [
      "a retired type",
      2,
      "retired",
      [header("x"), { ...turnStart, type: "request/header-delta" }],
    ],
    [
      "an unknown envelope key",
      2,
      "extra is not a key",
      [header("x"), { ...turnStart, extra: 1 }],
    ],
    [
      "a number that is lost in JSON",
      2,
      "data.turn is -0",
      [
        header("x"),
        '{"type":"turn/start","seq":0,"time":1,"data":{"turn":-0}}',
      ],
    ],
    [
      "a number beyond any",
      2,
      "data.turn is 1e999",
      [
        header("x"),
        '{"type":"turn/start","seq":0,"time":1,"data":{"turn":1e999}}',
      ],
    ],
    [
      "an event without time",
      2,
      "time must be there",
      [header("x"), { type: "turn/start", seq: 0, data: { turn: 1 } }],
    ],
    [
      "a replacement of what is not on the surface",
      3,
      "the start is not on the surface",
      [
        header("x"),
        turnStart,
        {
          ...replace,
          seq: 1,
          sourceEventSeqs: [0],
          surfaceOp: { op: "replace", start: 0, end: 0 },
        },
      ],
    ],
    [
      "a replacement that does not cite what it shadows",
      5,
      "2 missing",
      [
        header("x"),
        turnStart,
        stepStart,
        prompt,
        { ...replace, sourceEventSeqs: [1] },
      ],
    ],
  ])("%s", async (_what, line, reason, lines) => {
    const { db, store } = database();
    const file = await write(...lines);
    const before = await db.rows({
      text: "select count(*) from turnlog.sessions",
    });

    const report = await importFile(store, file);

    expect(report).toMatchObject({ outcome: "refused", line, appended: 0 });
    expect(report.reason).toContain(reason);
    expect(
      await db.rows({ text: "select count(*) from turnlog.sessions" }),
    ).toEqual(before);
  });

  it("that is not there, or a folder", async () => {
    const { store } = database();

    expect(await importFile(store, folder.path("none.jsonl"))).toMatchObject({
      outcome: "refused",
      line: null,
    });
    expect(await importFile(store, folder.path("."))).toMatchObject({
      outcome: "refused",
      reason: "it is not a file",
    });
  });
});

describe("an import", () => {
  it("takes an unknown type that is marked ignorable, and a trailing carriage return", async () => {
    const { store } = database();
    const id = randomUUID();
    const event = {
      type: "plugin/thing",
      seq: 0,
      time: 1,
      data: null,
      ignorable: true,
    };
    const file = await write(header(id), `${JSON.stringify(event)}\r`);

    expect(await importFile(store, file)).toMatchObject({
      outcome: "imported",
      events: 1,
    });
    expect(JSON.stringify((await collect(store, id))[0])).toBe(
      JSON.stringify(event),
    );
  });

  it("takes an unknown source kind of a message (B109)", async () => {
    const { store } = database();
    const id = randomUUID();
    const data = {
      ...prompt.data,
      source: { kind: "agent-teams-command", more: 1 },
    };

    expect(
      await importFile(
        store,
        await write(header(id), { ...prompt, seq: 0, data }),
      ),
    ).toMatchObject({ outcome: "imported" });
  });

  it("says how far it is", async () => {
    const { store } = database();
    const seen: string[] = [];

    await importFile(
      store,
      await write(header(randomUUID()), turnStart, stepStart),
      { onProgress: ({ phase, events }) => seen.push(`${phase} ${events}`) },
    );

    expect(seen).toEqual(["check 1", "check 2", "append 2"]);
  });

  it("does not take the store's own trouble for the file's", async () => {
    const file = await write(header(randomUUID()), turnStart);
    const closed = await createSessionStore({ databaseUrl: database().url });
    await closed.close();

    await expect(importFile(closed, file)).rejects.toMatchObject({
      code: "STORE_CLOSED",
    });
  });
});
