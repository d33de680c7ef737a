import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
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
const refused = corpusFiles("M");
const empty = corpusFiles("H");

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
      const tables = {
        messages: (await liveRows(db, messages, id))["messages"] ?? [],
        titles: (await liveRows(db, titles, id))["titles"] ?? [],
        sessions: (await liveRows(db, sessions, id))["sessions"] ?? [],
      };
      expect(
        derivedFromRows(tables.messages, tables.titles, tables.sessions[0]),
      ).toEqual(derivedByReference(log));
    },
  );
});

describe("files that do not open", () => {
  it("are there to be tried, refused and empty ones", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    expect(refused).not.toEqual([]);
    expect(empty).not.toEqual([]);
  });

  it.each(refused.map((file) => [basename(file), file]))(
    "%s is refused with its line and nothing is stored",
    async (_name, file) => {
      await using fresh = await freshDatabase();

      const report = await importFile(fresh.store, file);

      expect(report).toMatchObject({ outcome: "refused", line: 2 });
      expect(report.reason).toContain(
        "data.header.config.provider must be a non-empty string",
      );
      expect(
        await fresh.db.rows({ text: "select from turnlog.sessions" }),
      ).toEqual([]);
    },
  );

  it.each(empty.map((file) => [basename(file), file]))(
    "%s is empty and nothing is stored",
    async (_name, file) => {
      await using fresh = await freshDatabase();

      expect(await importFile(fresh.store, file)).toMatchObject({
        outcome: "empty",
        events: 0,
        line: null,
      });
      expect(
        await fresh.db.rows({ text: "select from turnlog.sessions" }),
      ).toEqual([]);
    },
  );
});
