import { randomUUID } from "node:crypto";
import * as pg from "drizzle-orm/pg-core";
import { describe, expect, it } from "vitest";
import { toolStats } from "../../examples/projections/tool-stats.ts";
import { member } from "../../src/events/event.ts";
import { defineProjection, idText, type Projection } from "../../src/index.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import { given, projectionContract } from "../../src/testing.ts";
import { note, notes } from "../support/events.ts";

describe.each(
  [...builtInProjections, toolStats].map((one) => [one.name, one] as const),
)("the contract of %s", (_name, projection) => {
  it.each(
    projectionContract(projection, {
      sessions: [{ events: notes(5) }, { events: [] }],
    }).map(({ name, check }) => [name, check] as const),
  )("%s", async (_law, check) => {
    await expect(check()).resolves.toBeUndefined();
  });
});

const table = pg.pgTable(
  "lines",
  {
    sessionId: idText("session_id").notNull(),
    seq: pg.integer("seq").notNull(),
    line: pg.text("line").notNull(),
  },
  (columns) => [pg.primaryKey({ columns: [columns.sessionId, columns.seq] })],
);

/** A projection of notes: a row for each, with what `line` makes of its text and of the texts before. */
function lines(
  line: (word: string, before: readonly string[], data: unknown) => string,
  next: (before: readonly string[], word: string) => readonly string[] = (
    before,
    word,
  ) => [...before, word],
): Projection {
  return defineProjection({
    name: "lines",
    version: 1,
    tables: { lines: table },
    handles: "all",
    init: (): readonly string[] => [],
    apply(before, event, rows) {
      if (event.type !== "feedback/record" && event.ignorable !== true)
        return before;
      const said = member(event.data, "text");
      const word = typeof said === "string" ? said : "";
      const { sessionId, seq } = event;
      rows.lines.upsert({
        sessionId,
        seq,
        line: line(word, before, event.data),
      });
      return next(before, word);
    },
  });
}

/** Titles of the laws that a projection breaks. */
async function brokenLaws(projection: Projection): Promise<string[]> {
  const broken: string[] = [];
  for (const { name, check } of projectionContract(projection, {
    sessions: [{ events: [...notes(4), note("a"), note("a"), note("b\0")] }],
    examples: false,
  }))
    await check().catch(() => broken.push(name));
  return broken;
}

const clean = (text: string) => text.replaceAll("\0", "");

describe("a projection that breaks a law is found", () => {
  let calls = 0;
  const seen = new Set<string>();
  it.each<[string, Projection, string]>([
    [
      "it counts what it has seen in a variable of its module",
      lines(() => String((calls += 1))),
      "replaying a log gives the same rows and the same state",
    ],
    [
      "it makes ids up",
      lines(() => randomUUID()),
      "replaying a log gives the same rows and the same state",
    ],
    [
      "it keeps a map in its state",
      lines(
        (word, before) => `${word.length}${String(before instanceof Odd)}`,
        (before, word) => Odd.from([...before, clean(word)]),
      ),
      "the fold goes on from the checkpoint behind every event",
    ],
    [
      "its rows depend on the batch",
      lines(
        (word, before) => `${word.length}${String(before instanceof Odd)}`,
        (before, word) => Odd.from([...before, clean(word)]),
      ),
      "the rows are the same however the log is cut into batches",
    ],
    [
      "it reads the clock",
      lines((word) => `${clean(word)}${Date.now() > 0}`),
      "the fold looks at no clock and at no chance",
    ],
    [
      "it throws dice",
      lines((word) => `${clean(word)}${Math.random() < 2}`),
      "the fold looks at no clock and at no chance",
    ],
    [
      "it changes an event",
      lines((word, _before, data) => {
        Object.assign(Object(data), { text: "changed" });
        return clean(word);
      }),
      "the fold leaves its events as they are",
    ],
    [
      "it fails at what it does not know",
      lines((word) => {
        if (word === "?") throw new Error("what is this?");
        return clean(word);
      }),
      "events of types that it does not know are no trouble",
    ],
    ["it writes a NUL", lines((word) => word), "every row can be stored"],
    [
      "it writes what it had not seen in another process",
      lines((word, before) => {
        const isNew = !seen.has(word + String(before.length));
        seen.add(word + String(before.length));
        return String(isNew);
      }),
      "replaying a log gives the same rows and the same state",
    ],
  ])("where %s", async (_what, projection, law) => {
    expect(await brokenLaws(projection)).toContain(law);
  });

  it("where it has rows before the first event", async () => {
    const early: Projection = {
      ...lines(clean),
      fold(header, state, sink) {
        const values = { sessionId: header.id, seq: 0, line: "" };
        sink({ table, kind: "upsert", values });
        return lines(clean).fold(header, state, sink);
      },
    };

    expect(await brokenLaws(early)).toContain("an empty log has no rows");
  });

  it("where its state does not survive JSON", async () => {
    const odd: Projection = {
      ...lines(clean),
      fold(header, state, sink) {
        const fold = lines(clean).fold(header, "", sink);
        return { ...fold, state: () => `${fold.state()} ${state.length}` };
      },
    };

    expect(await brokenLaws(odd)).toContain("the state survives JSON");
  });

  it("and one that keeps them all breaks none", async () => {
    expect(await brokenLaws(lines(clean))).toEqual([]);
  });
});

/** An array that JSON does not give back as what it was. */
class Odd extends Array<string> {}

const row = (seq: number, line: string) => ({
  sessionId: "test-session",
  seq,
  line,
});

describe("given, when, then", () => {
  const upper = lines((text) => text.toUpperCase());

  it("compares the rows after the later events", () => {
    given(upper, [note("a")])
      .when([note("b")])
      .thenRows({ lines: [row(0, "A"), row(1, "B")] });
    expect(() =>
      given(upper, [note("a")])
        .when([note("b")])
        .thenRows({ lines: [row(0, "A")] }),
    ).toThrow(/Expected values to be strictly deep-equal/);
  });

  it("tells whether anything changed", () => {
    const other = { type: "turn/start", data: { turn: 1 } };
    given(upper, [note("a")])
      .when([other])
      .thenNothingChanges();
    expect(() =>
      given(upper, [note("a")])
        .when([note("b")])
        .thenNothingChanges(),
    ).toThrow(/deep-equal/);
  });

  it("tells whether the fold throws, and at the later events only", () => {
    const picky = lines((text) => {
      if (text === "bad") throw new RangeError("not with bad");
      return text;
    });
    given(picky, [note("a")])
      .when([note("bad")])
      .thenThrows(/not with bad/);
    expect(() =>
      given(picky, [note("bad")])
        .when([])
        .thenThrows(),
    ).toThrow(RangeError);
    expect(() =>
      given(picky, [note("a")])
        .when([])
        .thenThrows(),
    ).toThrow(/Missing expected exception/);
  });

  it("refuses events that the store would refuse", () => {
    expect(() =>
      given(upper, [{ type: "turn/start", data: { turn: 0 } }])
        .when([])
        .thenNothingChanges(),
    ).toThrow(/turn/);
  });
});
