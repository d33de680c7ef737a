import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { prompt } from "../../support/events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const TWO = [splice(0, ["a", "b"])];

describe("a change of the inbox", () => {
  it("puts messages in and takes them out, in the middle too", () => {
    expect(
      findingsOf([
        ...TWO,
        splice(1, ["c"]),
        splice(0, [], { removedCount: 2 }),
        splice(1, ["a"], { removedCount: 0 }),
        splice(0, ["c"], { removedCount: 2, outcome: "canceled" }),
      ]),
    ).toEqual([]);
  });

  it.each<Case>([
    [
      "begins in the queue or at its end",
      TWO,
      splice(3, ["c"]),
      "inbox-splice",
      "data.start",
      splice(2, ["c"]),
    ],
    [
      "takes out no more than there is",
      TWO,
      splice(1, [], { removedCount: 2 }),
      "inbox-splice",
      "data.start",
      splice(1, [], { removedCount: 1 }),
    ],
    [
      "is one of the queue it names",
      TWO,
      splice(0, [], { removedCount: 1, target: "next-step" }),
      "inbox-splice",
      "data.start",
      splice(0, [], { removedCount: 1 }),
    ],
    [
      "queues no message twice",
      TWO,
      splice(2, ["a"]),
      "inbox-splice",
      "data.inserted",
      splice(2, ["c"]),
    ],
    [
      "queues no two messages of one id at once",
      [],
      splice(0, ["a", "a"]),
      "inbox-splice",
      "data.inserted",
      splice(0, ["a", "b"]),
    ],
    [
      "queues no message that waits in the other queue",
      TWO,
      splice(0, ["b"], { target: "next-step" }),
      "inbox-splice",
      "data.inserted",
      splice(0, ["b"], { removedCount: 2 }),
    ],
    [
      "queues messages that have an id",
      TWO,
      splice(2, [""]),
      "inbox-splice",
      "data.inserted",
      splice(2, ["c"]),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("may queue the id of a message that stands in the log", () => {
    const inserted = splice(0, ["m-a"]);
    const claimed = splice(0, [], { removedCount: 1 });

    expect(findingsOf([inserted, claimed, prompt("a"), inserted])).toEqual([]);
  });

  it("of the parent is not carried out by a fork", () => {
    const header = { seedLength: 1 };
    const claimed = splice(0, [], { removedCount: 1 });

    expect(findingsOf([...TWO, splice(0, ["a"])], header)).toEqual([]);
    expect(findingsOf([...TWO, claimed], header)).toEqual([
      [1, "inbox-splice", "data.start"],
    ]);
    expect(findingsOf([splice(7, ["a"]), splice(0, ["a"])], header)).toEqual(
      [],
    );
  });

  it("is remembered over the end of the seed", () => {
    const seeded: NewEvent = { type: "session/end-seed", data: {} };

    expect(
      findingsOf([...TWO, seeded, splice(0, [], { removedCount: 2 })]),
    ).toEqual([]);
  });
});

describe("one slip in the inbox is one finding", () => {
  it("of a message that was queued twice and then taken up", () => {
    const log = [...TWO, splice(2, ["b"]), splice(0, [], { removedCount: 3 })];

    expect(findingsOf(log).map(([seq]) => seq)).toEqual([1]);
  });
});

function splice(
  start: number,
  ids: readonly string[],
  more: object = {},
): NewEvent {
  const source = { kind: "user" };
  const inserted = ids.map((id) => ({ id, role: "user", content: [], source }));
  const data = { target: "next-turn", start, inserted, ...more };
  return { type: "agent/inbox/spliced", data };
}
