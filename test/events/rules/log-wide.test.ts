import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { LogAudit } from "../../../src/events/rules/log-audit.ts";
import { openStep, prompt } from "../../support/events.ts";
import { answer, toolCall, toolResult } from "../../support/request-events.ts";

describe("an id", () => {
  it.each<[what: string, path: string, once: readonly NewEvent[]]>([
    [
      "of an approval",
      "data.id",
      [
        { type: "approval/asked", data: { id: "a", toolName: "bash" } },
        { type: "approval/decided", data: { id: "a", outcome: "rejected" } },
      ],
    ],
    [
      "of a command",
      "data.commandId",
      [
        {
          type: "command/run",
          data: { commandId: "a", name: "x", source: { kind: "user" } },
        },
        { type: "command/done", data: { commandId: "a", kind: "success" } },
      ],
    ],
    [
      "of a compaction",
      "data.compactionId",
      [
        { type: "compaction/start", data: { compactionId: "a", turn: 1 } },
        {
          type: "compaction/end",
          data: { compactionId: "a", turn: 1, error: "x" },
        },
      ],
    ],
  ])("%s stands for one thing in the whole log", (_what, path, once) => {
    const turn: NewEvent = { type: "turn/start", data: { turn: 1 } };

    expect(findingsOf([turn, ...once])).toEqual([]);
    expect(findingsOf([turn, ...once, ...once])).toEqual([
      [3, "unique-id", path],
    ]);
  });

  it("of one kind may be that of another", () => {
    expect(
      findingsOf([
        {
          type: "command/run",
          data: { commandId: "a", name: "x", source: { kind: "user" } },
        },
        { type: "compaction/start", data: { compactionId: "a", turn: null } },
      ]),
    ).toEqual([]);
  });
});

describe("a call id", () => {
  it("that a step has twice hides a missing result, and is one finding (B029)", () => {
    const calls = ["a", "a", "b"].map(toolCall);
    const results = ["a", "b"].map((id) => toolResult(id, "x"));

    expect(findingsOf([...openStep(), ...calls, ...results])).toEqual([
      [3, "repeated-call-id", "data.callId"],
    ]);
  });

  it("may come again in the next step (B026)", () => {
    const step = { turn: 1, step: 2 };
    const next: NewEvent[] = [
      { type: "step/end", data: { turn: 1, step: 1 } },
      { type: "step/start", data: step },
    ];
    const call = { ...step, callId: "a", name: "bash", arguments: "{}" };

    expect(
      findingsOf([
        ...openStep(),
        toolCall("a"),
        toolResult("a", "x"),
        ...next,
        { type: "tool/call", data: call },
      ]),
    ).toEqual([]);
  });
});

describe("a replacement", () => {
  /** The surface is u 2, a(c1) 3, r(c1) 5, a(c2) 6, r(c2) 8. */
  const twoCalls = [
    ...openStep(),
    prompt("u"),
    ...called("c1"),
    ...called("c2"),
  ];

  it("that takes a call and leaves its result is reported (B034)", () => {
    expect(findingsOf([...twoCalls, replacing(2, 3, [2, 3])])).toEqual([
      [9, "split-tool-pair", "surfaceOp"],
    ]);
  });

  it("that takes a result and leaves its call is reported (B034)", () => {
    expect(findingsOf([...twoCalls, replacing(8, 8, [8])])).toEqual([
      [9, "split-tool-pair", "surfaceOp"],
    ]);
  });

  it("that takes a call and leaves its result is reported when a later call has the same id (B026, B034)", () => {
    const sameId = [
      ...openStep(),
      prompt("u"),
      ...called("call_0"),
      ...called("call_0").map(inNextStep),
    ];
    const log = sameId.toSpliced(
      6,
      0,
      { type: "step/end", data: { turn: 1, step: 1 } },
      { type: "step/start", data: { turn: 1, step: 2 } },
    );

    expect(findingsOf([...log, replacing(2, 3, [2, 3])])).toEqual([
      [11, "split-tool-pair", "surfaceOp"],
    ]);
  });

  it("that takes calls with their results, or neither, is no finding", () => {
    expect(findingsOf([...twoCalls, replacing(2, 5, [2, 3, 5])])).toEqual([]);
    expect(findingsOf([...twoCalls, replacing(2, 2, [2])])).toEqual([]);
  });

  it("that takes part of a batch of parallel calls is reported (B041)", () => {
    const answers = ["a", "b", "c"].map((id) => toolResult(id, "x"));

    expect(
      findingsOf([...batch(), ...answers, replacing(2, 7, [2, 3, 7])]),
    ).toEqual([
      [10, "split-tool-pair", "surfaceOp"],
      [10, "split-tool-pair", "surfaceOp"],
    ]);
  });

  it("that comes into a batch of parallel calls is reported with the results that come after it (B041)", () => {
    const [first, ...late] = ["a", "b", "c"].map((id) => toolResult(id, "x"));
    const log = [...batch(), ...(first ? [first] : [])];

    const found = findingsOf([...log, replacing(2, 7, [2, 3, 7]), ...late]);

    expect(found.map(([, rule]) => rule)).toContain("split-tool-pair");
  });

  it("of a result by a shorter one parts nothing", () => {
    const shorter: NewEvent = {
      ...toolResult("c1", "short"),
      surfaceOp: { op: "replace", start: 5, end: 5 },
      sourceEventSeqs: [5],
    };

    expect(findingsOf([...twoCalls, shorter])).toEqual([]);
  });
});

describe("an audit", () => {
  it("keeps a thousand findings and counts the rest", () => {
    const audit = new LogAudit({});
    for (let at = 0; at < 1_100; at += 1)
      audit.add({ type: "turn/start", data: { turn: 0 } });

    expect(audit.count).toBe(1_100);
    expect(audit.findings).toHaveLength(1_000);
  });

  it("says where a rule is broken and why", () => {
    const audit = new LogAudit({});
    audit.add({ type: "turn/start", data: { turn: 2 } }, 7);

    expect(audit.findings).toEqual([
      {
        seq: 0,
        line: 7,
        type: "turn/start",
        rule: "turn-order",
        path: "data.turn",
        reason: "is 2, but turn 1 comes next",
      },
    ]);
  });
});

/** What the log breaks: seq, rule and path. */
function findingsOf(
  log: readonly NewEvent[],
): [number | null, string, string][] {
  const audit = new LogAudit({});
  for (const event of log) audit.add(event);
  return audit.findings.map(({ seq, rule, path }) => [seq, rule, path]);
}

/** An answer with one call, the call, and its result. */
function called(id: string): NewEvent[] {
  const block = { type: "tool-call", id, name: "bash", arguments: "{}" };
  return [answer([block]), toolCall(id), toolResult(id, "x")];
}

/** Seqs 0 to 6: a prompt (2), an answer with three calls (3), and the calls. */
function batch(): NewEvent[] {
  const ids = ["a", "b", "c"];
  const blocks = ids.map((id) => ({
    type: "tool-call",
    id,
    name: "bash",
    arguments: "{}",
  }));
  return [...openStep(), prompt("u"), answer(blocks), ...ids.map(toolCall)];
}

function inNextStep(event: NewEvent): NewEvent {
  return { ...event, data: Object.assign({}, event.data, { step: 2 }) };
}

/** A message in the place of the events from start to end. */
function replacing(
  start: number,
  end: number,
  sources: readonly number[],
): NewEvent {
  const source = { kind: "agent-instructions" };
  return {
    type: "user/message",
    data: { id: "m", role: "user", content: [], source },
    surfaceOp: { op: "replace", start, end },
    sourceEventSeqs: sources,
  };
}
