import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { deltas, note, openStep, prompt } from "../../support/events.ts";
import { toolCall, toolResult } from "../../support/request-events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

const TURN: NewEvent = { type: "turn/start", data: { turn: 1 } };
const END_SEED: NewEvent = { type: "session/end-seed", data: {} };

/** Seqs 0 and 1, on the surface, between turns. */
const PROMPTS: readonly NewEvent[] = [prompt("a"), prompt("b")];
/** Seqs 2 and 3. */
const SUMMARISED = [...PROMPTS, start(), summary([0, 1])];
/** Seq 4. */
const REPLACED = [...SUMMARISED, checkpoint([0, 1], [2, 3])];

describe("a compaction", () => {
  it("is a start, a summary, the replacement right behind it, and an end", () => {
    expect(findingsOf([...REPLACED, end()])).toEqual([]);
  });

  it("may stand in a turn and in a step, and have other events between start and summary", () => {
    const turn = { turn: 1 };
    const log = [...openStep(), prompt("a"), start(turn), note()];

    expect(
      findingsOf([
        ...log,
        ...deltas(["yo"]),
        summary([2]),
        checkpoint([2], [3, 6]),
        note(),
        end(turn),
      ]),
    ).toEqual([]);
  });

  it("may swallow the checkpoint of an earlier one", () => {
    const later = { compactionId: "later" };
    const second = [
      prompt("c"),
      start(later),
      summary([4, 6], later),
      checkpoint([4, 6], [7, 8], later),
      end(later),
    ];

    expect(findingsOf([...REPLACED, end(), ...second])).toEqual([]);
  });

  it("that fails ends with an error, before or after its summary, and another may begin", () => {
    const failed = end({ error: "no summary" });
    const again = { compactionId: "again" };

    expect(findingsOf([...PROMPTS, start(), failed, start(again)])).toEqual([]);
    expect(findingsOf([...SUMMARISED, failed, start(again)])).toEqual([]);
  });

  it.each<Case>([
    [
      "is the only one that is open",
      [start()],
      start({ compactionId: "other" }),
      "compaction-bracket",
      "data.compactionId",
      end({ error: "x" }),
    ],
    [
      "names the open turn",
      [TURN],
      start({ turn: 2 }),
      "compaction-bracket",
      "data.turn",
      start({ turn: 1 }),
    ],
    [
      "names no turn between turns",
      [],
      start({ turn: 1 }),
      "compaction-bracket",
      "data.turn",
      start(),
    ],
    [
      "does not stand alone in a turn",
      [TURN],
      start(),
      "compaction-bracket",
      "data.turn",
      start({ turn: 1 }),
    ],
    [
      "has a summary only when it has begun",
      PROMPTS,
      summary([0, 1]),
      "compaction-bracket",
      "data.compactionId",
      start(),
    ],
    [
      "has a summary under its own id",
      [...PROMPTS, start()],
      summary([0, 1], { compactionId: "other" }),
      "compaction-bracket",
      "data.compactionId",
      summary([0, 1]),
    ],
    [
      "has one summary",
      SUMMARISED,
      summary([0, 1]),
      "compaction-bracket",
      "data",
      checkpoint([0, 1], [2, 3]),
    ],
    [
      "has the command of its start on the summary",
      [...PROMPTS, start({ sourceCommandId: "k" })],
      summary([0, 1], { sourceCommandId: "l" }),
      "compaction-bracket",
      "data.sourceCommandId",
      summary([0, 1], { sourceCommandId: "k" }),
    ],
    [
      "has no command on the summary when its start has none",
      [...PROMPTS, start()],
      summary([0, 1], { sourceCommandId: "l" }),
      "compaction-bracket",
      "data.sourceCommandId",
      summary([0, 1]),
    ],
    [
      "has the command of its start on the end",
      [start({ sourceCommandId: "k" })],
      end({ error: "x" }),
      "compaction-bracket",
      "data.sourceCommandId",
      end({ error: "x", sourceCommandId: "k" }),
    ],
    [
      "has the command of its start on the replacement",
      [
        ...PROMPTS,
        start({ sourceCommandId: "k" }),
        summary([0, 1], { sourceCommandId: "k" }),
      ],
      checkpoint([0, 1], [2, 3], { sourceCommandId: "l" }),
      "compaction-bracket",
      "data.source.sourceCommandId",
      checkpoint([0, 1], [2, 3], { sourceCommandId: "k" }),
    ],
    [
      "ends only when it has begun",
      [],
      end({ error: "x" }),
      "compaction-bracket",
      "data.compactionId",
      start(),
    ],
    [
      "ends under its own id",
      [start()],
      end({ compactionId: "other", error: "x" }),
      "compaction-bracket",
      "data.compactionId",
      end({ error: "x" }),
    ],
    [
      "ends in the turn it began in",
      [TURN, start({ turn: 1 })],
      end({ turn: null, error: "x" }),
      "compaction-bracket",
      "data.turn",
      end({ turn: 1, error: "x" }),
    ],
    [
      "does not succeed without a summary",
      [...PROMPTS, start()],
      end(),
      "compaction-bracket",
      "data",
      end({ error: "x" }),
    ],
    [
      "does not succeed without a replacement",
      SUMMARISED,
      end(),
      "compaction-bracket",
      "data",
      end({ error: "x" }),
    ],
    [
      "is not crossed by the beginning of a turn",
      [start()],
      TURN,
      "compaction-bracket",
      "data.turn",
      end({ error: "x" }),
    ],
    [
      "is not crossed by the beginning of a turn that claims to be interrupted",
      [start()],
      {
        type: "turn/start",
        data: { turn: 1, reason: { kind: "interrupted" } },
      },
      "compaction-bracket",
      "data.turn",
      end({ error: "x" }),
    ],
    [
      "is not crossed by the end of a turn",
      [TURN, start({ turn: 1 })],
      turnEnd("completed"),
      "compaction-bracket",
      "data.turn",
      turnEnd("interrupted"),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("that a crash left open is dead behind the end of the seed, and does not block another (B043)", () => {
    const again = { compactionId: "again", turn: 1 };
    const crashed = [...PROMPTS, start(), END_SEED, TURN];

    expect(
      findingsOf([
        ...crashed,
        start(again),
        summary([0, 1], again),
        checkpoint([0, 1], [5, 6], again),
        end(again),
      ]),
    ).toEqual([]);
    expect(
      findingsOf([...PROMPTS, start(), END_SEED, end({ error: "x" })]),
    ).toEqual([[4, "compaction-bracket", "data.compactionId"]]);
  });

  it("that a crash left open in a turn is dead when the turn is closed as interrupted (B043)", () => {
    const crashed = [TURN, start({ turn: 1 }), turnEnd("interrupted")];
    const second: NewEvent = { type: "turn/start", data: { turn: 2 } };

    expect(findingsOf([...crashed, END_SEED, second])).toEqual([]);
    expect(findingsOf([...crashed, end({ turn: 1, error: "x" })])).toEqual([
      [3, "compaction-bracket", "data.compactionId"],
    ]);
  });
});

describe("what a compaction or a pruning announces", () => {
  it.each<[what: string, ofTwo: readonly number[], ofOne: readonly number[]]>([
    ["nothing", [], []],
    ["another beginning", [1], [1]],
    ["another end", [0], [0, 1]],
  ])("must be the range it names, and not %s", (_what, ofTwo, ofOne) => {
    const rule = ["compaction-range", "data.shadowedSeqs"] as const;

    expectOnlyBadToBeRefused(
      "",
      [...PROMPTS, start()],
      summary([0, 1], { shadowedSeqs: ofTwo }),
      ...rule,
      summary([0, 1]),
    );
    expectOnlyBadToBeRefused(
      "",
      [TURN],
      pruning({ shadowedSeqs: ofOne }),
      ...rule,
      pruning(),
    );
  });
});

describe("a replacement", () => {
  const answered = [
    ...openStep(),
    ...["c1", "c2"].map(toolCall),
    ...["c1", "c2"].map((id) => toolResult(id, "long")),
  ];
  const pruned: NewEvent = { type: "compaction/prune", data: priced([4]) };

  it.each<Case>([
    [
      "is the one that the summary before it announces",
      SUMMARISED,
      checkpoint([0], [2, 3]),
      "compaction-adjacency",
      "surfaceOp",
      checkpoint([0, 1], [2, 3]),
    ],
    [
      "is the one that the pruning before it announces",
      [...answered, pruned],
      rewrite("c2", 5),
      "compaction-adjacency",
      "surfaceOp",
      rewrite("c1", 4),
    ],
    [
      "of a compaction has its summary right before it",
      [...SUMMARISED, note()],
      checkpoint([0, 1], [2, 3]),
      "compaction-adjacency",
      "data.source.compactionId",
      end({ error: "x" }),
    ],
    [
      "of a compaction has not even a delta before it",
      [
        ...openStep(),
        prompt("a"),
        start({ turn: 1 }),
        summary([2]),
        ...deltas(["yo"]),
      ],
      checkpoint([2], [3, 4]),
      "compaction-adjacency",
      "data.source.compactionId",
      end({ turn: 1, error: "x" }),
    ],
    [
      "of a compaction has its id",
      SUMMARISED,
      checkpoint([0, 1], [2, 3], { compactionId: "other" }),
      "compaction-adjacency",
      "data.source.compactionId",
      checkpoint([0, 1], [2, 3]),
    ],
    [
      "of a compaction needs one",
      PROMPTS,
      checkpoint([0, 1], []),
      "compaction-adjacency",
      "data.source.compactionId",
      replacement([0, 1], { kind: "agent-instructions" }),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });

  it("needs nobody to announce it", () => {
    const source = { kind: "agent-instructions" };

    expect(findingsOf([...PROMPTS, replacement([0], source)])).toEqual([]);
    expect(findingsOf([...answered, rewrite("c1", 4)])).toEqual([]);
  });

  it("that is announced may be left out", () => {
    expect(findingsOf([...answered, pruned, note()])).toEqual([]);
  });
});

describe("a pruning", () => {
  it("stands in a turn", () => {
    const event = pruning();

    expectOnlyBadToBeRefused("", PROMPTS, event, "outside-turn", "", TURN);
    expect(findingsOf([...PROMPTS, TURN, event])).toEqual([]);
  });
});

describe("one slip in a compaction is one finding", () => {
  const later: NewEvent[] = [
    TURN,
    turnEnd("completed"),
    { type: "turn/start", data: { turn: 2 } },
  ];
  const second = { compactionId: "second" };

  it.each<[what: string, at: number, log: readonly NewEvent[]]>([
    [
      "a success without replacement",
      3,
      [...PROMPTS, start(), end(), ...later],
    ],
    ["an end that never came", 3, [...PROMPTS, start(), ...later]],
    [
      "a compaction that begins within another",
      3,
      [
        ...PROMPTS,
        start(),
        start(second),
        summary([0, 1], second),
        checkpoint([0, 1], [3, 4], second),
        end(second),
        ...later,
      ],
    ],
  ])("%s", (_what, at, log) => {
    expect(findingsOf(log).map(([seq]) => seq)).toEqual([at]);
  });
});

function start(more: object = {}): NewEvent {
  const data = { compactionId: "k", turn: null, ...more };
  return { type: "compaction/start", data };
}

function summary(shadowed: readonly number[], more: object = {}): NewEvent {
  const ids = { compactionId: "k", provider: "p", model: "x" };
  const data = { ...ids, summary: [], ...priced(shadowed), ...more };
  return { type: "compaction/summary", data };
}

function end(more: object = {}): NewEvent {
  const data = { compactionId: "k", turn: null, ...more };
  return { type: "compaction/end", data };
}

/** The message that stands for the shadowed events. */
function checkpoint(
  shadowed: readonly number[],
  sources: readonly number[],
  more: object = {},
): NewEvent {
  const ids = { compactionId: "k", ...more };
  const source = { kind: "plugin", plugin: "compact", ...ids };
  return replacement(shadowed, source, sources);
}

function replacement(
  shadowed: readonly number[],
  source: object,
  sources: readonly number[] = [],
): NewEvent {
  const [first = 0] = shadowed;
  return {
    type: "user/message",
    data: { id: "m", role: "user", content: [], source },
    surfaceOp: { op: "replace", start: first, end: shadowed.at(-1) ?? first },
    sourceEventSeqs: [...sources, ...shadowed],
  };
}

/** A shorter result in the place of the one at seq. */
function rewrite(callId: string, seq: number): NewEvent {
  return {
    ...toolResult(callId, "short"),
    surfaceOp: { op: "replace", start: seq, end: seq },
    sourceEventSeqs: [seq],
  };
}

/** Announces that the event at seq 0 will be shorter. */
function pruning(more: object = {}): NewEvent {
  return { type: "compaction/prune", data: { ...priced([0]), ...more } };
}

function priced(shadowed: readonly number[]): object {
  return {
    shadowedRange: { start: shadowed[0], end: shadowed.at(-1) },
    shadowedSeqs: shadowed,
    shadowedTokenCount: 0,
  };
}

function turnEnd(kind: string): NewEvent {
  return { type: "turn/end", data: { turn: 1, reason: { kind } } };
}
