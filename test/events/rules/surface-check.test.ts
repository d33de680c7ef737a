import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { RuleViolation } from "../../../src/events/rule-violation.ts";
import { SurfaceCheck } from "../../../src/events/rules/surface-check.ts";
import { note, openStep, prompt } from "../../support/events.ts";
import { answer, toolCall, toolResult } from "../../support/request-events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const ERROR = { name: "E", code: "X" };
const NO_META = { meta: null };

/** Seqs 0 to 2, all on the surface. */
const THREE = ["a", "b", "c"].map((text) => prompt(text));
/** Seqs 0 to 6; the results are 5 and 6. */
const ANSWERED: readonly NewEvent[] = [
  ...openStep(),
  answer([]),
  toolCall("c1"),
  toolCall("c2"),
  toolResult("c1", "long", { meta: { a: 1 } }),
  toolResult("c2", "long", { error: ERROR }),
];

describe("a replacement", () => {
  it.each<Case>([
    [
      "starts at an event of the surface",
      [...THREE, note()],
      replacing(3, 2, [3, 2]),
      "replace-start-not-in-surface",
      "surfaceOp",
      replacing(1, 2, [1, 2]),
    ],
    [
      "ends at an event of the surface",
      [...THREE, note()],
      replacing(1, 3, [1, 2, 3]),
      "replace-end-not-in-surface",
      "surfaceOp",
      replacing(1, 2, [1, 2]),
    ],
    [
      "does not start at an event that another has replaced",
      [...THREE, replacing(0, 1, [0, 1])],
      replacing(1, 2, [1, 2]),
      "replace-start-not-in-surface",
      "surfaceOp",
      replacing(3, 2, [3, 2]),
    ],
    [
      "does not end at an event that another has replaced",
      [...THREE, replacing(1, 2, [1, 2])],
      replacing(0, 2, [0, 1, 2]),
      "replace-end-not-in-surface",
      "surfaceOp",
      replacing(0, 3, [0, 3]),
    ],
    [
      "starts where it ends or before",
      THREE,
      replacing(2, 0, [0, 1, 2]),
      "replace-range-reversed",
      "surfaceOp",
      replacing(2, 2, [2]),
    ],
    [
      "starts before it ends by place and not by number",
      [...THREE, replacing(0, 1, [0, 1])],
      replacing(2, 3, [2, 3]),
      "replace-range-reversed",
      "surfaceOp",
      replacing(3, 2, [2, 3]),
    ],
    [
      "names all that it shadows as its sources",
      THREE,
      replacing(0, 2, [0, 2]),
      "sources-miss-shadowed",
      "sourceEventSeqs",
      replacing(0, 2, [2, 1, 0]),
    ],
    [
      "has sources",
      THREE,
      replacing(1, 1, null),
      "sources-miss-shadowed",
      "sourceEventSeqs",
      replacing(1, 1, [1]),
    ],
    [
      "names an answer without content too",
      ANSWERED,
      replacing(2, 6, [5, 6]),
      "sources-miss-shadowed",
      "sourceEventSeqs",
      replacing(2, 6, [2, 5, 6]),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("may name more sources than it shadows, of any kind", () => {
    expect(findingsOf([note(), ...THREE, replacing(2, 2, [0, 1, 2])])).toEqual(
      [],
    );
  });

  it("by a message of a person may stand for events of any kind", () => {
    expect(findingsOf([...ANSWERED, replacing(2, 5, [2, 5])])).toEqual([]);
  });

  it("is judged by place: the example A3", () => {
    const surface = new SurfaceCheck();
    for (const seq of [2, 7, 12]) surface.add(node(seq));

    surface.add(node(20, 2, 7));
    surface.add(node(25, 20, 12));

    expect(() => surface.add(node(26, 12, 25))).toThrow(
      expect.objectContaining({ rule: "replace-start-not-in-surface" }),
    );
    expect(() => surface.add(node(26, 25, 25))).not.toThrow();
  });
});

describe("a rewritten tool result", () => {
  it("changes the content of its block and nothing else", () => {
    expect(findingsOf([...ANSWERED, rewrite({ output: "short" })])).toEqual([]);
  });

  it("may be rewritten again", () => {
    const again = rewrite({ output: "shorter", target: 7 });

    expect(findingsOf([...ANSWERED, rewrite({}), again])).toEqual([]);
  });

  it.each<[what: string, bad: NewEvent, path: string]>([
    ["takes the place of one event", rewrite({ end: 6 }), "surfaceOp"],
    [
      "takes the place of a tool result",
      rewrite({ target: 2, end: 2 }),
      "surfaceOp",
    ],
    ["keeps the call", rewrite({ callId: "c2" }), "data"],
    ["keeps the turn", rewrite({ more: { turn: 2 } }), "data"],
    ["keeps the step", rewrite({ more: { step: 2 } }), "data"],
    ["keeps meta", rewrite({ more: { meta: { a: 2 } } }), "data"],
    ["keeps meta even where it is null", rewrite({ more: NO_META }), "data"],
    ["gets no error", rewrite({ more: { error: ERROR } }), "data"],
    ["gets no further field", rewrite({ more: { extra: 1 } }), "data"],
    ["keeps the id of the message", rewrite({ id: "other" }), "data"],
    ["keeps the source", rewrite({ source: { tool: "bash" } }), "data"],
    ["gets no mark of an error", rewrite({ block: { isError: true } }), "data"],
    ["gets no mark of success", rewrite({ block: { isError: false } }), "data"],
  ])("%s", (_what, bad, path) => {
    expectOnlyBadToBeRefused(
      "",
      ANSWERED,
      bad,
      "tool-result-rewrite",
      path,
      rewrite({}),
    );
  });

  it("keeps its error", () => {
    const error = { name: "E", code: "Y" };
    const second = { target: 6, end: 6, callId: "c2" };

    expectOnlyBadToBeRefused(
      "",
      ANSWERED,
      rewrite({ ...second, more: { error, meta: undefined } }),
      "tool-result-rewrite",
      "data",
      rewrite({ ...second, more: { error: ERROR, meta: undefined } }),
    );
  });
});

describe("a replacement that is refused", () => {
  it("leaves the surface as it was", () => {
    const surface = new SurfaceCheck();
    for (const seq of [0, 1, 2]) surface.add(node(seq));

    for (const refused of [
      node(3, 2, 0),
      node(3, 0, 9),
      node(3, 9, 0),
      { ...node(3, 0, 2), sourceEventSeqs: [0] },
    ])
      expect(() => surface.add(refused)).toThrow(RuleViolation);

    expect(() => surface.add(node(3, 0, 2))).not.toThrow();
  });
});

/** A message in the place of the events from start to end. */
function replacing(
  start: number,
  end: number,
  sources: readonly number[] | null,
): NewEvent {
  const source = { kind: "agent-instructions" };
  return {
    type: "user/message",
    data: { id: "m", role: "user", content: [], source },
    surfaceOp: { op: "replace", start, end },
    ...(sources === null ? {} : { sourceEventSeqs: sources }),
  };
}

/** A bare event of the surface; a replacement cites all seqs below it. */
function node(seq: number, start?: number, end?: number) {
  const isReplacement = start !== undefined && end !== undefined;
  return {
    type: "user/message",
    seq,
    data: null,
    surfaceOp: isReplacement
      ? ({ op: "replace", start, end } as const)
      : ("append" as const),
    sourceEventSeqs: isReplacement ? [...Array(seq).keys()] : null,
  };
}

interface Rewrite {
  readonly target?: number;
  readonly end?: number;
  readonly callId?: string;
  readonly output?: string;
  readonly id?: string;
  readonly source?: object;
  readonly block?: object;
  /** What the data has beside the message; undefined takes away. */
  readonly more?: object;
}

/** The result of c1, shorter, in the place of the event at seq 5, but for what is given. */
function rewrite(given: Rewrite): NewEvent {
  const { target = 5, end = target, callId = "c1", output = "short" } = given;
  const block = { type: "tool-result", toolCallId: callId, ...given.block };
  const message = {
    id: given.id ?? `result-of-${callId}`,
    role: "user",
    content: [{ ...block, content: [{ type: "text", text: output }] }],
    source: { kind: "tool", callId, ...given.source },
  };
  const data = { turn: 1, step: 1, message, meta: { a: 1 }, ...given.more };
  const present = Object.entries(data).filter(([, v]) => v !== undefined);
  return {
    type: "tool/result",
    data: Object.fromEntries(present),
    surfaceOp: { op: "replace", start: target, end },
    sourceEventSeqs: [...new Set([2, 5, 6, target])],
  };
}
