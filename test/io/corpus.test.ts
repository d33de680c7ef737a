import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { importFile } from "../../src/io/import-file.ts";
import { messages } from "../../src/projections/messages/projection.ts";
import { sessions } from "../../src/projections/sessions/projection.ts";
import { titles } from "../../src/projections/titles/projection.ts";
import { packRuns } from "../../src/events/pack-runs.ts";
import { isRun } from "../../src/events/pack-runs.ts";
import { liveRows } from "../support/build-rows.ts";
import { freshDatabase } from "../support/database.ts";
import { derivedByReference, derivedFromRows } from "../support/derived.ts";
import { collect } from "../support/events.ts";
import {
  convertedFiles,
  corpusFiles,
  corpusMissing,
  exampleFiles,
} from "../support/logs.ts";
import { catchUp } from "../support/pipeline.ts";
import { formatLog, readLog } from "../support/reference-log.ts";
import type { SessionEvent } from "../../src/events/event.ts";

const openable = [...exampleFiles(), ...convertedFiles(), ...corpusFiles("A")];

/** Lines of a log file as packing the whole log gives them. */
function packedLines(
  header: object,
  events: readonly SessionEvent[],
): string[] {
  const rows = [...packRuns(events)].map((row) =>
    isRun(row)
      ? { type: row.type, seq0: row.seq0, time0: row.time0, data: row.data }
      : row,
  );
  return [{ type: "session", ...header }, ...rows].map((line) =>
    JSON.stringify(line),
  );
}

/** What the live tables say of a session, in the reference's terms. */
async function derivedLive(db: Db, id: string) {
  const tables = {
    messages: (await liveRows(db, messages, id))["messages"] ?? [],
    titles: (await liveRows(db, titles, id))["titles"] ?? [],
    sessions: (await liveRows(db, sessions, id))["sessions"] ?? [],
  };
  return derivedFromRows(tables.messages, tables.titles, tables.sessions[0]);
}

describe("files that open as they are", () => {
  it("are there to be tried, the recorded ones too", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    expect(openable.length).toBeGreaterThan(70);
  });

  it.each(openable.map((file) => [basename(file), file]))(
    "%s is imported whole, read back byte for byte, and its tables equal the reference's folds",
    async (_name, file) => {
      await using fresh = await freshDatabase();
      const { db, store } = fresh;
      const log = readLog(file);
      const { id } = log.header;

      const report = await importFile(store, file);
      await catchUp(db);

      expect(report).toMatchObject({
        outcome: "imported",
        events: log.events.length,
        appended: log.events.length,
      });
      const { header } = await store.session(id);
      const events = await collect(store, id);
      expect(events.map((event) => JSON.stringify(event))).toEqual(
        log.events.map((event) => JSON.stringify(event)),
      );
      expect(
        packedLines(header, events)
          .map((line) => `${line}\n`)
          .join(""),
      ).toBe(formatLog(log));
      const text = readFileSync(file, "utf8");
      const holdsRuns = /^\{"type":"[a-z-]+-chunks"/m.test(text);
      expect(holdsRuns ? packedLines(header, events) : []).toEqual(
        holdsRuns ? text.trimEnd().split("\n") : [],
      );
      expect(await derivedLive(db, id)).toEqual(derivedByReference(log));
    },
  );
});

function named(files: readonly string[]) {
  return files.map((file) => [basename(file), file]);
}

/** What becomes of a file by its class, without and with findings allowed. */
const VERDICTS = [
  ["A, opens as it is", corpusFiles("A"), "imported", "imported"],
  ["L, of an earlier shape", corpusFiles("L"), "imported", "imported"],
  ["R, breaks rules between events", corpusFiles("R"), "refused", "imported"],
  ["M, is wrong by itself", corpusFiles("M"), "refused", "refused"],
  ["H, has a header alone", corpusFiles("H"), "empty", "empty"],
] as const;

describe.each(VERDICTS)(
  "a file of class %s",
  (_class, files, bare, allowed) => {
    it("is there to be tried", ({ skip }) => {
      skip(corpusMissing !== null, corpusMissing ?? "");
      expect(files).not.toEqual([]);
    });

    it.each(files.map((file) => [basename(file), file]))(
      `%s is ${bare}, and ${allowed} with findings allowed`,
      async (_name, file) => {
        await using fresh = await freshDatabase();
        const { store, db } = fresh;

        const first = await importFile(store, file);
        const stored = await db.rows({ text: "select from turnlog.sessions" });
        expect(first.outcome).toBe(bare);
        expect(stored).toHaveLength(bare === "imported" ? 1 : 0);
        const second = await importFile(store, file, { allowFindings: true });
        expect(second.outcome).toBe(
          bare === "imported" ? "unchanged" : allowed,
        );
      },
    );
  },
);

describe("a file of class", () => {
  it.each(named(corpusFiles("M")))(
    "M, %s, names line and path",
    async (_name, file) => {
      await using fresh = await freshDatabase();

      expect(await importFile(fresh.store, file)).toMatchObject({
        code: "EVENT_INVALID",
        line: 2,
        reason: expect.stringContaining(
          "data.header.config.provider must be a non-empty string",
        ),
      });
    },
  );

  it.each(named(corpusFiles("R")))(
    "R, %s, shows its findings in a check, as accepted",
    async (_name, file) => {
      await using fresh = await freshDatabase();
      const { store } = fresh;

      const report = await importFile(store, file, { allowFindings: true });

      const check = await store.check(report.sessionId ?? "");
      expect(check.count).toBeGreaterThan(0);
      expect(check.accepted).toBe(check.count);
      expect(report.findingCount).toBe(check.count);
    },
  );

  it.each(named(corpusFiles("L")))(
    "L, %s, is converted to what the reference folds as we do",
    async (_name, file) => {
      await using fresh = await freshDatabase();
      const { store, db } = fresh;

      const report = await importFile(store, file);
      await catchUp(db);

      expect(report.converted).toBeGreaterThan(0);
      const id = report.sessionId ?? "";
      const { header } = await store.session(id);
      const events = await collect(store, id);
      expect(await derivedLive(db, id)).toEqual(
        derivedByReference({ header, events }),
      );
      expect((await store.check(id)).count).toBe(0);
    },
  );
});
