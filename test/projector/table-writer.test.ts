import { getTableColumns } from "drizzle-orm";
import fc from "fast-check";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { buildTables } from "../../src/builds/build-ddl.ts";
import { defineProjection } from "../../src/projector/projection.ts";
import {
  RowBuffer,
  type RowChange,
  type RowValues,
  type TableChanges,
} from "../../src/projector/row-buffer.ts";
import { clearSession, writeTable } from "../../src/projector/table-writer.ts";
import { useTestDatabase } from "../support/database.ts";
import {
  applyToModel,
  kindsChange,
  kindsKeyOf,
  kindsRow,
  kindsTable,
} from "../support/projector-model-rows.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();
const BUILD = 900;
const SCHEMA = `turnlog_b${BUILD}`;
const NOTHING: TableChanges = { upserts: [], updates: [], deletes: [] };
const ROW = {
  sessionId: "s",
  seq: 1,
  line: "one",
  maybeLine: "maybe",
  count: 10,
  maybeCount: 11,
  isIt: true,
  maybeIsIt: false,
};

const kinds = defineProjection({
  name: "kinds",
  version: 1,
  tables: { kinds: kindsTable },
  handles: ["feedback/record"],
  init: () => null,
  apply: (state) => state,
  views: [],
});

function write(changes: Partial<TableChanges>): Promise<void> {
  const { db } = database();
  return writeTable(db, SCHEMA, kindsTable, { ...NOTHING, ...changes });
}

/** What the table holds, in order of the key. */
async function stored(): Promise<readonly RowValues[]> {
  const names = Object.entries(getTableColumns(kindsTable))
    .map(([name, column]) => `${column.name} as "${name}"`)
    .join(", ");
  const rows = await database().db.rows<RowValues>({
    text: `select ${names} from ${SCHEMA}.kinds`,
  });
  return inOrder(rows);
}

function inOrder(rows: Iterable<RowValues>): readonly RowValues[] {
  return [...rows].toSorted((a, b) => (kindsKeyOf(a) < kindsKeyOf(b) ? -1 : 1));
}

function coalesced(changes: readonly RowChange[]): TableChanges {
  const buffer = new RowBuffer();
  for (const change of changes) buffer.add(change);
  return buffer.take().get(kindsTable) ?? NOTHING;
}

describe("the buffer of changes", () => {
  it("stands for the same as its changes one by one, wherever it is emptied", () => {
    fc.assert(
      fc.property(
        fc.array(kindsRow),
        fc.array(fc.array(kindsChange)),
        (initial, batches) => {
          const oneByOne = new Map<string, RowValues>();
          const atOnce = new Map<string, RowValues>();
          for (const row of initial) {
            oneByOne.set(kindsKeyOf(row), row);
            atOnce.set(kindsKeyOf(row), row);
          }
          for (const changes of batches) {
            for (const change of changes) applyToModel(oneByOne, change);
            const { deletes, upserts, updates } = coalesced(changes);
            const of = (kind: RowChange["kind"]) => (values: RowValues) =>
              applyToModel(atOnce, { table: kindsTable, kind, values });
            deletes.forEach(of("delete"));
            upserts.forEach(of("upsert"));
            updates.forEach(of("update"));
          }

          expect(atOnce).toEqual(oneByOne);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it("holds one change a row at most", () => {
    fc.assert(
      fc.property(fc.array(kindsChange), (changes) => {
        const { deletes, upserts, updates } = coalesced(changes);
        const keys = [...deletes, ...upserts, ...updates].map(kindsKeyOf);

        expect(new Set(keys).size).toBe(keys.length);
      }),
      { numRuns: runs(200) },
    );
  });

  it("is empty after it was taken", () => {
    const buffer = new RowBuffer();
    buffer.add({ table: kindsTable, kind: "upsert", values: ROW });

    buffer.take();

    expect([...buffer.take()]).toEqual([]);
  });
});

describe("the table writer", () => {
  beforeAll(async () => {
    const { db } = database();
    for (const statement of buildTables(kinds, BUILD))
      await db.orm.execute(statement);
  });
  beforeEach(() => database().db.rows({ text: `truncate ${SCHEMA}.kinds` }));

  it("gives every value of every kind of column back as it was", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(kindsRow, { selector: kindsKeyOf, minLength: 1 }),
        async (rows) => {
          await database().db.rows({ text: `truncate ${SCHEMA}.kinds` });

          await write({ upserts: rows });

          expect(await stored()).toEqual(inOrder(rows));
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("leaves a table as the changes one by one would, however they are batched", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(kindsChange, { maxLength: 12 }), { maxLength: 5 }),
        async (batches) => {
          await database().db.rows({ text: `truncate ${SCHEMA}.kinds` });
          const model = new Map<string, RowValues>();

          for (const changes of batches) {
            for (const change of changes) applyToModel(model, change);
            await write(coalesced(changes));
          }

          expect(await stored()).toEqual(inOrder(model.values()));
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("replaces a whole row where there is one: columns left out become null", async () => {
    await write({ upserts: [ROW] });
    const { maybeLine: _line, maybeCount: _count, ...required } = ROW;

    await write({ upserts: [required] });

    expect(await stored()).toEqual([
      { ...ROW, maybeLine: null, maybeCount: null },
    ]);
  });

  it("changes only the columns that an update names", async () => {
    await write({ upserts: [ROW, { ...ROW, seq: 2 }] });

    await write({
      updates: [
        { sessionId: "s", seq: 1, line: "changed" },
        { sessionId: "s", seq: 2, maybeCount: null, isIt: false },
      ],
    });

    expect(await stored()).toEqual([
      { ...ROW, line: "changed" },
      { ...ROW, seq: 2, maybeCount: null, isIt: false },
    ]);
  });

  it("does nothing for an update or a deletion of a row that is not there", async () => {
    await write({
      updates: [{ sessionId: "s", seq: 1, line: "changed" }],
      deletes: [{ sessionId: "s", seq: 2 }],
    });

    expect(await stored()).toEqual([]);
  });

  it("does nothing for an update that names nothing but the key", async () => {
    await write({ upserts: [ROW] });

    await write({ updates: [{ sessionId: "s", seq: 1 }] });

    expect(await stored()).toEqual([ROW]);
  });

  it("removes the rows of one session and no other", async () => {
    const other = { ...ROW, sessionId: "s' or true --" };
    await write({ upserts: [ROW, other] });

    await clearSession(database().db, SCHEMA, kindsTable, "s");

    expect(await stored()).toEqual([other]);
  });

  it("writes thousands of rows at once", async () => {
    const rows = Array.from({ length: 20_000 }, (_, seq) => ({ ...ROW, seq }));

    await write({ upserts: rows });
    await write({
      updates: rows.map(({ sessionId, seq }) => ({
        sessionId,
        seq,
        line: `${seq}`,
      })),
    });
    await write({ deletes: rows.slice(1) });

    expect(await stored()).toEqual([{ ...ROW, seq: 0, line: "0" }]);
  });
});
