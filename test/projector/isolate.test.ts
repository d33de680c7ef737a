import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { SessionId } from "../../src/events/ids.ts";
import { readParked, skipParked } from "../../src/projector/parked.ts";
import type { Projection } from "../../src/projector/projection.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { liveRows } from "../support/build-rows.ts";
import { useTestDatabase } from "../support/database.ts";
import { deltas, note, openStep } from "../support/events.ts";
import {
  linesProjection,
  notesProjection,
} from "../support/projector-notes.ts";
import {
  changeLog,
  checkpointOf,
  fold,
  foldFully,
} from "../support/projector-steps.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();

const lines = linesProjection("lines", (text) => {
  if (text === "throw") throw new RangeError("not with this");
  return text === "NUL" ? "a\0b" : text;
});
const notes = notesProjection("some_notes");
/** Can't begin with a session of this directory. */
const choosy: Projection = {
  ...notesProjection("choosy"),
  fold(header, state, sink) {
    if (header.cwd === "/refused") throw new TypeError("not in /refused");
    return notesProjection("choosy").fold(header, state, sink);
  },
};
const all = [...builtInProjections, lines, notes, choosy];

beforeAll(() => ensureBuilds(database().db, all));

/** A session with an open step, these texts streamed in runs, and notes between them; with a fact at the end. */
async function appendTexts(
  runsOfTexts: readonly (readonly string[])[],
  header = {},
): Promise<string> {
  const { store } = database();
  const id = randomUUID();
  const events: NewEvent[] = [
    ...openStep(),
    ...runsOfTexts.flatMap((texts) => [...deltas(texts), note("note")]),
  ];
  await store.append(id, events, { expectedSeq: 0, header });
  return id;
}

async function textsOf(
  projection: Projection,
  sessionId: string,
): Promise<readonly unknown[]> {
  const tables = await liveRows(database().db, projection, sessionId);
  return (tables["note_lines"] ?? []).map((row) => row["text"]);
}

describe.each([
  ["that a fold throws at", "throw", "RangeError"],
  ["whose row the database refuses", "NUL", "22021"],
])("a streamed delta %s", (_what, poison, errorCode) => {
  it("is found inside its run, and the rows of the deltas before it are kept", async () => {
    const { db } = database();
    const id = await appendTexts([["a", "b", "c", poison, "d", "e"]]);

    await foldFully(db, id, all);

    expect(await textsOf(lines, id)).toEqual(["a", "b", "c"]);
    expect(await checkpointOf(db, id, "lines")).toMatchObject({
      next_seq: 5,
      error_seq: 5,
      error_code: errorCode,
      attempts: 1,
    });
    expect(await textsOf(notes, id)).toEqual(["note"]);
  });

  it("can be passed over, and the fold goes on inside the run", async () => {
    const { db } = database();
    const id = await appendTexts([["a", poison, "b"], ["c"]]);
    await foldFully(db, id, all);
    const [pair] = await readParked(db, "lines", SessionId(id));
    expect(pair).toMatchObject({ seq: 3, eventType: "text-chunks" });

    expect(pair !== undefined && (await skipParked(db, pair))).toBe(true);
    await foldFully(db, id, all);

    expect(await textsOf(lines, id)).toEqual(["a", "b", "note", "c", "note"]);
    expect(await checkpointOf(db, id, "lines")).toMatchObject({
      next_seq: 8,
      error_code: null,
    });
  });
});

describe("trouble before the first event", () => {
  it("in a fold that can't begin is noted, and holds no other build up (G5 #56)", async () => {
    const { db } = database();
    const id = await appendTexts([["a"]], { cwd: "/refused" });

    await foldFully(db, id, all);

    expect(await checkpointOf(db, id, "choosy")).toMatchObject({
      next_seq: 0,
      error_seq: 0,
      error_code: "TypeError",
      attempts: 1,
    });
    expect(await textsOf(notes, id)).toEqual(["note"]);
  });

  it("in a state that can't be read is noted at the next event, and holds no other build up", async () => {
    const { db, store } = database();
    const id = await appendTexts([["a"]]);
    await foldFully(db, id, all);
    await db.rows(
      {
        text: `
          update turnlog.checkpoints c set state = '{' from turnlog.builds b
          where b.number = c.build and b.projection = 'lines' and c.session_id = $1`,
      },
      [id],
    );
    await store.append(id, [note("more")], { expectedSeq: 4 });

    await foldFully(db, id, all);

    expect(await checkpointOf(db, id, "lines")).toMatchObject({
      next_seq: 4,
      error_seq: 4,
      error_code: "SyntaxError",
    });
    expect(await textsOf(notes, id)).toEqual(["note", "more"]);
  });
});

describe("a row of the log that can't be read", () => {
  it("can be passed over as a whole", async () => {
    const { db } = database();
    const id = await appendTexts([["a"], ["b"]]);
    await changeLog(db, id, [
      "update turnlog.events set payload = '{' where session_id = $1 and seq = 3",
    ]);
    await foldFully(db, id, all);
    const [pair] = await readParked(db, "lines", SessionId(id));

    if (pair !== undefined) await skipParked(db, pair);
    await foldFully(db, id, all);

    expect(await textsOf(lines, id)).toEqual(["a", "b", "note"]);
  });
});

const word = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("a", "b", "c") },
  { weight: 1, arbitrary: fc.constantFrom("throw", "NUL") },
);

function isPoison(text: string): boolean {
  return text === "throw" || text === "NUL";
}

describe("any mixture of events that fail", () => {
  it("stops the build at the first of them each time, and skipping them all leaves the fold of the rest", async () => {
    const { db } = database();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), {
          minLength: 1,
          maxLength: 5,
        }),
        async (texts) => {
          const id = await appendTexts(texts);
          const told = texts.flatMap((run) => [...run, "note"]);
          for (let at = told.findIndex(isPoison); at >= 0;) {
            await fold(db, id, all);
            expect(await textsOf(lines, id)).toEqual(
              told.slice(0, at).filter((text) => !isPoison(text)),
            );
            const [pair] = await readParked(db, "lines", SessionId(id));
            expect(pair?.seq).toBe(at + 2);
            if (pair !== undefined) await skipParked(db, pair);
            const next = told.slice(at + 1).findIndex(isPoison);
            at = next < 0 ? -1 : at + 1 + next;
          }
          await foldFully(db, id, all);
          expect(await textsOf(lines, id)).toEqual(
            told.filter((text) => !isPoison(text)),
          );
        },
      ),
      { numRuns: runs(12) },
    );
  });
});
