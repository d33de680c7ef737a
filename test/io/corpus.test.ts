import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { exportBytes } from "../../src/io/export-session.ts";
import { importFile, type ImportReport } from "../../src/io/import-file.ts";
import { messages } from "../../src/projections/messages/projection.ts";
import { sessions } from "../../src/projections/sessions/projection.ts";
import { titles } from "../../src/projections/titles/projection.ts";
import type { SessionStore } from "../../src/session-store.ts";
import { liveRows } from "../support/build-rows.ts";
import {
  freshDatabase,
  useTestDatabase,
  type TestDatabase,
} from "../support/database.ts";
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
import { textOf } from "./log-files.ts";

/** What the live tables say of a session, in the reference's terms. */
async function derivedLive(db: Db, id: string) {
  const tables = {
    messages: (await liveRows(db, messages, id))["messages"] ?? [],
    titles: (await liveRows(db, titles, id))["titles"] ?? [],
    sessions: (await liveRows(db, sessions, id))["sessions"] ?? [],
  };
  return derivedFromRows(tables.messages, tables.titles, tables.sessions[0]);
}

const database = useTestDatabase();
const seen = new Set<string>();

/** The database of all these files; some have the id of another, and get one of their own. */
async function placeFor(
  file: string,
): Promise<Pick<TestDatabase, "db" | "store"> & AsyncDisposable> {
  const [head = ""] = readFileSync(file, "utf8").split("\n", 1);
  const { id }: { readonly id: string } = JSON.parse(head);
  if (seen.has(id)) return await freshDatabase();
  seen.add(id);
  const { db, store } = database();
  return { db, store, [Symbol.asyncDispose]: () => Promise.resolve() };
}

async function sessionCount(db: Db): Promise<number> {
  return (await db.rows({ text: "select from turnlog.sessions" })).length;
}

/** An import whose session is stored, and what it is held against. */
interface Imported {
  readonly db: Db;
  readonly store: SessionStore;
  readonly report: ImportReport;
  readonly file: string;
}

async function textOfExport(
  { store, report }: Imported,
  packed: boolean,
): Promise<string> {
  const options = { packed, zstd: false, overwrite: false };
  const pieces: Buffer[] = [];
  for await (const piece of exportBytes(store, idOf(report), options))
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

function idOf(report: ImportReport): string {
  if (report.sessionId === null) throw new Error("nothing was imported");
  return report.sessionId;
}

async function comesOutAsItWentIn(imported: Imported): Promise<void> {
  const { store, report, file } = imported;
  const log = readLog(file);
  const text = readFileSync(file, "utf8");
  const isPacked = /^\{"type":"[a-z-]+-chunks"/m.test(text);

  expect(report.events).toBe(log.events.length);
  const events = await collect(store, idOf(report));
  expect(events.map((event) => JSON.stringify(event))).toEqual(
    log.events.map((event) => JSON.stringify(event)),
  );
  expect(await textOfExport(imported, true)).toBe(
    isPacked ? text : formatLog(log),
  );
  expect(await textOfExport(imported, false)).toBe(
    textOf({ type: "session", ...log.header }, ...log.events),
  );
}

async function foldsAsTheReferenceDoes(imported: Imported): Promise<void> {
  const { db, store, report } = imported;
  const id = idOf(report);
  await catchUp(db);

  const { header } = await store.session(id);
  const events = await collect(store, id);
  expect(await derivedLive(db, id)).toEqual(
    derivedByReference({ header, events }),
  );
}

async function isConverted({ store, report }: Imported): Promise<void> {
  expect(report.converted).toBeGreaterThan(0);
  expect((await store.check(idOf(report))).count).toBe(0);
}

async function showsItsFindings({ store, report }: Imported): Promise<void> {
  const check = await store.check(idOf(report));
  expect(check.count).toBeGreaterThan(0);
  expect(check.accepted).toBe(check.count);
  expect(report.findingCount).toBe(check.count);
}

/** What becomes of a file by its class, without and with findings allowed, and what holds of it then. */
const VERDICTS = [
  [
    "A, opens as it is",
    [...corpusFiles("A"), ...convertedFiles(), ...exampleFiles()],
    "imported",
    "unchanged",
    [comesOutAsItWentIn, foldsAsTheReferenceDoes],
  ],
  [
    "L, of an earlier shape",
    corpusFiles("L"),
    "imported",
    "unchanged",
    [isConverted, foldsAsTheReferenceDoes],
  ],
  [
    "R, breaks rules between events",
    corpusFiles("R"),
    "refused",
    "imported",
    [comesOutAsItWentIn, showsItsFindings],
  ],
  ["M, is wrong by itself", corpusFiles("M"), "refused", "refused", []],
  ["H, has a header alone", corpusFiles("H"), "empty", "empty", []],
] as const;

describe.each(VERDICTS)(
  "a file of class %s",
  (_class, files, bare, allowed, laws) => {
    it("is there to be tried", ({ skip }) => {
      skip(corpusMissing !== null, corpusMissing ?? "");
      expect(files).not.toEqual([]);
    });

    it.each(files.map((file) => [basename(file), file]))(
      `%s is ${bare}, then ${allowed} with findings allowed, and what is stored is right`,
      async (_name, file) => {
        await using place = await placeFor(file);
        const { store, db } = place;
        const before = await sessionCount(db);

        const first = await importFile(store, file);
        expect(first.outcome).toBe(bare);
        expect((await sessionCount(db)) - before).toBe(
          bare === "imported" ? 1 : 0,
        );
        const second = await importFile(store, file, { allowFindings: true });
        expect(second.outcome).toBe(allowed);

        const report = bare === "imported" ? first : second;
        for (const holds of laws) await holds({ db, store, report, file });
      },
    );
  },
);

describe("a file of class M", () => {
  it.each(corpusFiles("M").map((file) => [basename(file), file]))(
    "%s is refused with its line and the path in it",
    async (_name, file) => {
      expect(await importFile(database().store, file)).toMatchObject({
        code: "EVENT_INVALID",
        line: 2,
        reason: expect.stringContaining(
          "data.header.config.provider must be a non-empty string",
        ),
      });
    },
  );
});
