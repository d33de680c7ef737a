import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { importFile } from "../../src/io/import-file.ts";
import { messages } from "../../src/projections/messages/projection.ts";
import { liveRows } from "../support/build-rows.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import { catchUp } from "../support/pipeline.ts";
import {
  header,
  prompt,
  stepStart,
  turnEnd,
  turnStart,
  useLogFolder,
} from "./log-files.ts";

const database = useTestDatabase();
const { write } = useLogFolder();

const allow = { allowFindings: true };
/** A prompt outside of any step, then a turn that ends twice. */
const odd = [
  { ...stepStart, seq: 0 },
  turnEnd(1),
  { ...prompt, seq: 2 },
  { ...turnStart, seq: 3 },
  turnEnd(4),
];

describe("a log whose events break rules among each other", () => {
  it("is refused with the first of them", async () => {
    const report = await importFile(
      database().store,
      await write(header("x"), ...odd),
    );

    expect(report).toMatchObject({
      outcome: "refused",
      code: "RULE_BROKEN",
      line: 2,
      appended: 0,
    });
  });

  it("is unchanged when it was accepted before, whether findings are allowed or not", async () => {
    const { store } = database();
    const file = await write(header(randomUUID()), ...odd);
    await importFile(store, file, allow);

    const again = await importFile(store, file);

    expect(again).toMatchObject({ outcome: "unchanged", code: null });
  });

  it("has what was accepted beside it from the first append on", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await write(header(id), ...odd);

    await expect(
      importFile(store, file, {
        ...allow,
        onProgress: ({ phase }) => {
          if (phase === "append") throw new Error("the importer dies");
        },
      }),
    ).rejects.toThrow("the importer dies");

    const check = await store.check(id);
    expect(check.count).toBeGreaterThan(1);
    expect(check.accepted).toBe(check.count);
  });

  it("is imported as it is where that is allowed, and its findings are kept", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const file = await write(header(id), ...odd);

    const report = await importFile(store, file, allow);

    expect(report).toMatchObject({ outcome: "imported", appended: 5 });
    expect(report.findingCount).toBeGreaterThan(1);
    expect(report.findings[0]).toMatchObject({ seq: 0, line: 2 });
    expect(await collect(store, id)).toEqual(odd);
    const check = await store.check(id);
    expect(check.count).toBe(report.findingCount);
    expect(check.accepted).toBe(report.findingCount);
    expect(
      await db.rows(
        {
          text: "select seq, rule from turnlog.import_findings where session_id = $1 order by seq",
        },
        [id],
      ),
    ).toEqual(report.findings.map(({ seq, rule }) => ({ seq, rule })));
  });

  it("can be imported again, and then changes nothing", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await write(header(id), ...odd);
    await importFile(store, file, allow);

    expect(await importFile(store, file, allow)).toMatchObject({
      outcome: "unchanged",
    });
    expect((await store.check(id)).accepted).toBeGreaterThan(1);
  });

  it("tells what was accepted from what came later", async () => {
    const { store } = database();
    const id = randomUUID();
    await importFile(store, await write(header(id), ...odd), allow);
    const before = await store.check(id);

    await store.append(id, [turnEnd(5)], {
      expectedSeq: 5,
      allowFindings: true,
    });

    const after = await store.check(id);
    expect(after.accepted).toBe(before.count);
    expect(after.count).toBeGreaterThan(before.count);
    expect(after.findings.at(-1)).toMatchObject({ seq: 5 });
  });

  it("is still refused for an event that is wrong by itself", async () => {
    const file = await write(header("x"), ...odd, {
      ...turnStart,
      seq: 5,
      data: {},
    });

    expect(await importFile(database().store, file, allow)).toMatchObject({
      outcome: "refused",
      code: "EVENT_INVALID",
      line: 7,
    });
  });

  it("goes into the read tables like any other", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await importFile(store, await write(header(id), ...odd), allow);

    await catchUp(db);

    expect((await liveRows(db, messages, id))["messages"]).toHaveLength(1);
  });

  it("may replace what is not on the surface: that replacement shadows nothing", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const replace = {
      ...prompt,
      seq: 3,
      surfaceOp: { op: "replace", start: 0, end: 0 },
      sourceEventSeqs: [0],
    };
    const file = await write(header(id), turnStart, stepStart, prompt, replace);

    const report = await importFile(store, file, allow);
    await catchUp(db);

    expect(report).toMatchObject({ outcome: "imported", appended: 4 });
    expect(await collect(store, id)).toHaveLength(4);
    const rows = (await liveRows(db, messages, id))["messages"] ?? [];
    expect(rows.map(({ replacedBySeq }) => replacedBySeq ?? null)).toContain(
      null,
    );
  });
});

describe("a log that breaks no rule", () => {
  it("is imported alike with and without findings allowed", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await write(header(id), turnStart, stepStart, prompt);

    expect(await importFile(store, file, allow)).toMatchObject({
      outcome: "imported",
      findingCount: 0,
    });
    expect((await store.check(id)).count).toBe(0);
  });
});
