import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import {
  ProjectionUnknownError,
  ProjectionVersionUnknownError,
} from "../../src/errors.ts";
import { SessionId } from "../../src/events/ids.ts";
import { readParked, skipParked } from "../../src/projector/parked.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { verifyProjections } from "../../src/index.ts";
import { verifyLiveBuilds } from "../../src/verify/verify-projections.ts";
import { appendLog } from "../support/append-log.ts";
import { turnlog } from "../support/command-line.ts";
import { useTestDatabase } from "../support/database.ts";
import { note, notes } from "../support/events.ts";
import { notesProjection } from "../support/projector-notes.ts";
import { exampleLog, foldFully, schemaOf } from "../support/projector-steps.ts";

const database = useTestDatabase();
const mine = notesProjection("mine", (text) => {
  if (text === "throw") throw new RangeError("not with this");
  return text;
});
const projections = [...builtInProjections, mine];
const logs = [
  "04-compaction.jsonl",
  "07-chinese-and-emoji.jsonl",
  "08-nul-and-pruned-output.jsonl",
].map(exampleLog);

beforeAll(async () => {
  const { db, store } = database();
  await ensureBuilds(db, projections);
  for (const log of logs)
    await foldFully(
      db,
      (await appendLog(store, log, 50)).header.id,
      projections,
    );
});
/** What a test changed by hand is put right by folding anew. */
afterEach(async () => {
  const { db } = database();
  await db.rows({
    text: "update turnlog.checkpoints set redaction_generation = -1",
  });
  for await (const id of database().store.sessionIds())
    await foldFully(db, id, projections);
});

const verify = (
  projection: string | null = null,
  sessions: number | "all" | readonly string[] = "all",
) => verifyLiveBuilds(database().db, { projections, projection, sessions });

describe("verify", () => {
  it("finds every table of every projection equal to the fold of the log", async () => {
    const found = await verify();

    expect(found.map(({ projection }) => projection)).toEqual(
      projections.map(({ name }) => name),
    );
    for (const one of found)
      expect(one).toMatchObject({ passedOver: 0, difference: null });
    expect(found[0]).toMatchObject({ projection: "messages", sessions: 3 });
    expect(found[0]?.rows).toBeGreaterThan(10);
  });

  it.each([
    ["a text that was changed", "title", "'other'", "other"],
    ["a text that became empty", "title", "''", ""],
    ["a flag that was turned", "is_current", "not is_current", null],
    ["a time that was moved", "time_ms", "time_ms + 1", null],
  ])(
    "finds %s, and says session, key, column and both values",
    async (_what, column, value, live) => {
      const { db } = database();
      const titles = `${await schemaOf(db, "titles")}.titles`;
      const text = `
        update ${titles} t set ${column} = ${value}
        from (select session_id, seq, ${column}::text as before from ${titles} order by session_id, seq limit 1) f
        where t.session_id = f.session_id and t.seq = f.seq
        returning t.session_id, t.seq::text as seq, f.before, t.${column}::text as after`;
      const [row] = await db.rows<Record<string, string>>({ text });

      const [found] = await verify("titles");

      expect(found?.difference).toEqual({
        kind: "row",
        sessionId: row?.["session_id"],
        table: "titles",
        key: { session_id: row?.["session_id"], seq: row?.["seq"] },
        column,
        live: live ?? row?.["after"],
        refolded: row?.["before"],
      });
    },
  );

  it("finds a row that is missing, and one that is too many", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(3), { expectedSeq: 0 });
    await foldFully(db, id, projections);
    const schema = await schemaOf(db, "mine");
    await db.rows(
      {
        text: `delete from ${schema}.note_lines where session_id = $1 and seq = 1`,
      },
      [id],
    );
    const missing = await verify("mine", [id]);
    await db.rows(
      {
        text: `update ${schema}.note_lines set seq = seq + 10 where session_id = $1 and seq = 2`,
      },
      [id],
    );
    const shifted = await verify("mine", [id]);
    await db.rows(
      {
        text: `delete from ${schema}.note_lines where session_id = $1 and seq < 5`,
      },
      [id],
    );

    expect(missing[0]?.difference).toMatchObject({
      key: { seq: "1" },
      column: null,
      live: null,
      refolded: "row",
    });
    expect(shifted[0]?.difference).toMatchObject({ key: { seq: "1" } });
    expect((await verify("mine", [id]))[0]?.difference).toMatchObject({
      key: { seq: "0" },
      live: null,
    });
  });

  it("compares at the checkpoint: what is not folded yet is no difference (B115)", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(3), { expectedSeq: 0 });
    await foldFully(db, id, projections);
    await store.append(id, notes(3), { expectedSeq: 3 });

    const [found] = await verify("mine", [id]);

    expect(found).toMatchObject({ events: 3, rows: 3, difference: null });
  });

  it("leaves out what was passed over, and finds no difference at a parked build", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, ["a", "throw", "b", "throw"].map(note), {
      expectedSeq: 0,
    });
    await foldFully(db, id, projections);
    const [pair] = await readParked(db, "mine", SessionId(id));
    if (pair !== undefined) await skipParked(db, pair);
    await foldFully(db, id, projections);

    const [found] = await verify("mine", [id]);

    expect(found).toMatchObject({ events: 3, rows: 2, difference: null });
  });

  it("says so where the fold fails now at an event that the build is past", async () => {
    const { db, store } = database();
    const id = randomUUID();
    const tolerant = [...builtInProjections, notesProjection("mine")];
    await store.append(id, ["a", "throw"].map(note), { expectedSeq: 0 });
    await foldFully(db, id, tolerant);

    const [found] = await verify("mine", [id]);

    expect(found?.difference).toEqual({
      sessionId: id,
      kind: "fold",
      seq: 1,
      errorCode: "RangeError",
    });
  });

  it("passes over sessions that are to be folded anew", async () => {
    const { db, store } = database();
    const id = randomUUID();
    await store.append(id, notes(1), { expectedSeq: 0 });
    await foldFully(db, id, projections);
    await db.rows(
      {
        text: "update turnlog.sessions set redaction_generation = 7 where session_id = $1",
      },
      [id],
    );

    expect((await verify("mine", [id]))[0]).toMatchObject({
      sessions: 0,
      passedOver: 1,
    });
  });

  it("writes nothing", async () => {
    const { db } = database();
    const writes = () =>
      db.rows({
        text: `
          select relname, n_tup_ins, n_tup_upd, n_tup_del, n_live_tup
          from pg_stat_user_tables where schemaname like 'turnlog%' order by schemaname, relname`,
      });
    await db.rows({ text: "select pg_stat_force_next_flush()" });
    const before = await writes();

    await verify();
    await db.rows({ text: "select pg_stat_force_next_flush()" });

    expect(await writes()).toEqual(before);
  });

  it("refuses a projection that is not there, and a build of another version", async () => {
    await expect(verify("nope")).rejects.toBeInstanceOf(ProjectionUnknownError);
    const newer = [
      ...builtInProjections,
      notesProjection("mine", undefined, 2),
    ];
    await expect(
      verifyLiveBuilds(database().db, {
        projections: newer,
        projection: "mine",
        sessions: 1,
      }),
    ).rejects.toBeInstanceOf(ProjectionVersionUnknownError);
  });

  it("is a function of the package too", async () => {
    const found = await verifyProjections({
      databaseUrl: database().url,
      projection: "usage",
      sessions: 2,
    });

    expect(found).toMatchObject([
      { projection: "usage", sessions: 2, difference: null },
    ]);
  });

  it("finds nothing while appends and projectors go on", async () => {
    const { store } = database();
    const stop = new AbortController();
    const appending = Promise.all(
      logs.map((log) => appendLog(store, log, 10)),
    ).finally(() => stop.abort());
    const folding = foldUntil(stop.signal);

    const found = [];
    while (!stop.signal.aborted)
      for (const name of ["messages", "sessions"])
        found.push(...(await verify(name)));
    await Promise.all([appending, folding]);

    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ difference }) => difference !== null)).toEqual([]);
  });
});

/** Folds every session again and again. */
async function foldUntil(signal: AbortSignal): Promise<void> {
  const { db, store } = database();
  while (!signal.aborted)
    for await (const id of store.sessionIds())
      await foldFully(db, id, projections);
}

const command = (...args: readonly string[]) =>
  turnlog(["verify", ...args], { databaseUrl: database().url });

describe("turnlog verify", () => {
  it("prints one line a projection and the first difference, and exits with 1 for it", async () => {
    const { db } = database();
    const equal = await command("titles", "--all");
    expect(equal).toMatchObject({ code: 0, stderr: "" });
    expect(equal.stdout).toMatch(
      /^titles \(version 1, build \d+\): .*: equal$/m,
    );
    const schema = await schemaOf(db, "titles");
    await db.rows({ text: `update ${schema}.titles set title = 'other'` });

    const different = await command("titles", "--all");
    const json = await command("titles", "--sample", "50", "--json");

    expect(different.code).toBe(1);
    expect(different.stdout).toMatch(/: DIFFERENT$/m);
    expect(different.stdout).toMatch(/^ {2}column +title$/m);
    expect(different.stdout).toMatch(/^ {2}live +"other"$/m);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject([
      { projection: "titles", difference: { column: "title" } },
    ]);
  });

  it("says what is wrong with a call in one line", async () => {
    expect(await command("--all", "--sample", "3")).toMatchObject({ code: 2 });
    expect((await command("--session", "nobody")).code).toBe(1);
    expect((await command("nope")).stderr).toContain(
      "There is no live projection nope",
    );
  });
});
