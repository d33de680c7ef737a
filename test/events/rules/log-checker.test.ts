import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NewEvent, SessionEvent } from "../../../src/events/event.ts";
import { LogChecker } from "../../../src/events/rules/log-checker.ts";
import { ruleEventOf } from "../../../src/events/rules/rule-event.ts";
import {
  followRules,
  initRules,
  type RulesState,
} from "../../../src/events/rules/rules.ts";
import { ours } from "../../support/derived.ts";
import { openStep, prompt } from "../../support/events.ts";
import { legalLog } from "../../support/generated-logs.ts";
import { exampleFiles } from "../../support/logs.ts";
import { runs } from "../../support/property-runs.ts";
import { readLog } from "../../support/reference-log.ts";
import { referenceClosers } from "../../support/reference.ts";
import {
  answer,
  requestHeader,
  toolCall,
  toolResult,
} from "../../support/request-events.ts";

describe("a log that breaks no rule", () => {
  it("of the examples has no finding", () => {
    const logs = exampleFiles().map((path) => ours(readLog(path)));

    for (const { header, events } of logs)
      expect(findingsOf(events, header)).toEqual([]);
  });

  it("of the generator has no finding", () => {
    fc.assert(
      fc.property(legalLog(), (log) => {
        const { header, events } = ours(log);
        expect(findingsOf(events, header)).toEqual([]);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("the repair of a log that a crash left open", () => {
  it("breaks no rule, wherever the log breaks off", () => {
    fc.assert(
      fc.property(legalLog(), (log) => {
        const { header, events } = ours(log);
        let state = initRules(header);
        for (const [seq, event] of events.entries()) {
          expect(repairOf(state, events.slice(0, seq))).toEqual([]);
          state = followRules(state, ruleEventOf(event)).state;
        }
      }),
      { numRuns: runs(50) },
    );
  });

  it.each<[what: string, log: readonly NewEvent[]]>([
    ["in a turn", [{ type: "turn/start", data: { turn: 1 } }]],
    ["in a step", openStep()],
    ["with calls that were recorded and calls that were not", A2()],
    [
      "in a compaction",
      [
        ...openStep(),
        prompt("a"),
        { type: "compaction/start", data: { compactionId: "k", turn: 1 } },
      ],
    ],
    [
      "in a compaction with pending calls",
      [
        ...A2(),
        { type: "compaction/start", data: { compactionId: "k", turn: 1 } },
      ],
    ],
  ])("%s leaves a log that goes on", (_what, log) => {
    const stored = placed(log);
    const closed = [...stored, ...closersOf(stored)];
    const again: NewEvent[] = [
      { type: "session/end-seed", data: {} },
      { type: "turn/start", data: { turn: 2 } },
      { type: "compaction/start", data: { compactionId: "l", turn: 2 } },
    ];

    expect(findingsOf([...closed, ...placed(again, closed.length)])).toEqual(
      [],
    );
  });

  it("is, for the example A2, a result for each call of the answer and for no other", () => {
    const closers = closersOf(placed(A2()));

    expect(closers.map(({ seq, type }) => [seq, type])).toEqual([
      [7, "tool/result"],
      [8, "tool/result"],
      [9, "step/end"],
      [10, "turn/end"],
    ]);
    expect(findingsOf([...placed(A2()), ...closers])).toEqual([]);
  });

  it("gives a result to the crashed call only, though an earlier one had its id (B026)", () => {
    const first = [...openStep(), call("call_0"), toolCall("call_0")];
    const second = [call("call_0"), toolCall("call_0")].map((event) => ({
      ...event,
      data: Object.assign({}, event.data, { turn: 2 }),
    }));
    const log = placed([
      ...first,
      toolResult("call_0", "x"),
      { type: "step/end", data: { turn: 1, step: 1 } },
      { type: "turn/end", data: { turn: 1, reason: { kind: "completed" } } },
      { type: "turn/start", data: { turn: 2 } },
      { type: "step/start", data: { turn: 2, step: 1 } },
      ...second,
    ]);
    const closers = closersOf(log);

    expect(closers.map(({ type }) => type)).toEqual([
      "tool/result",
      "step/end",
      "turn/end",
    ]);
    expect(findingsOf([...log, ...closers])).toEqual([]);
  });
});

describe("an event that is wrong by itself", () => {
  it.each<[event: object, rule: string, path: string]>([
    [{ type: "turn/start", data: {} }, "data-shape", "data.turn"],
    [{ type: "turn/start", data: { turn: 1 }, id: 1 }, "envelope-keys", "id"],
    [{ type: "turn/start", data: { turn: 1 }, seq: 3 }, "seq", "seq"],
  ])("%j is one finding and is not followed", (event, rule, path) => {
    const checker = new LogChecker({});
    const { state } = checker;

    const { checked, violations } = checker.add(event);

    expect(violations).toMatchObject([{ rule, path }]);
    expect(checked).toBeNull();
    expect(checker.state).toBe(state);
    expect(checker.nextSeq).toBe(1);
  });
});

describe("the state", () => {
  it("is the same after a way through JSON behind every event", () => {
    fc.assert(
      fc.property(legalLog(), (log) => {
        const { header, events } = ours(log);
        let [kept, stored] = [initRules(header), initRules(header)];
        for (const event of events.map(ruleEventOf)) {
          kept = followRules(kept, event).state;
          stored = throughJson(followRules(stored, event).state);
          expect(stored).toEqual(kept);
        }
      }),
      { numRuns: runs(100) },
    );
  });

  it("has all that a later check needs: an illegal event is refused after a way through JSON too", () => {
    fc.assert(
      fc.property(legalLog(), legalLog(), (log, other) => {
        const { header, events } = ours(log);
        const state = events
          .map(ruleEventOf)
          .reduce(
            (before, event) => followRules(before, event).state,
            initRules(header),
          );
        for (const event of ours(other).events.map(ruleEventOf))
          expect(rulesOf(throughJson(state), event)).toEqual(
            rulesOf(state, event),
          );
      }),
      { numRuns: runs(50) },
    );
  });

  it("stays below 600 characters in a log of a thousand turns that settles what it opens", () => {
    const checker = new LogChecker({});
    const sizes = Array.from({ length: 1_000 }, (_, at) => {
      for (const event of busyTurn(at + 1, checker.nextSeq))
        expect(checker.add(event).violations).toEqual([]);
      return JSON.stringify(checker.state).length;
    });

    expect(Math.max(...sizes)).toBeLessThan(600);
  });

  it("is not changed by the event that follows, legal or not", () => {
    fc.assert(
      fc.property(legalLog(), legalLog(), (log, other) => {
        const { header, events } = ours(log);
        let state = initRules(header);
        for (const event of [...events, ...ours(other).events]) {
          const before = structuredClone(state);
          const next = followRules(state, ruleEventOf(event)).state;
          expect(state).toEqual(before);
          state = next;
        }
      }),
      { numRuns: runs(20) },
    );
  });
});

/** What the log breaks: seq, rule and path. */
function findingsOf(
  log: readonly SessionEvent[],
  header: { readonly seedLength?: number } = {},
): [number, string, string][] {
  const checker = new LogChecker(header);
  return log.flatMap((event) =>
    checker
      .add(event)
      .violations.map(({ rule, path }): [number, string, string] => [
        event.seq,
        rule,
        path,
      ]),
  );
}

function rulesOf(state: RulesState, event: Parameters<typeof followRules>[1]) {
  return followRules(state, event).violations.map(({ rule, path }) => ({
    rule,
    path,
  }));
}

/** What the closers of a log, and the mark and turn behind them, break. */
function repairOf(state: RulesState, log: readonly SessionEvent[]) {
  if (state.turns.turn === null) return [];
  const closers = closersOf(log);
  const mark = { type: "session/end-seed", data: {} };
  const turn = { turn: (state.turns.turn ?? 0) + 1 };
  const after = placed(
    [mark, { type: "turn/start", data: turn }],
    log.length + closers.length,
  );
  let at = state;
  return [...closers, ...after].flatMap((event) => {
    const verdict = followRules(at, ruleEventOf(event));
    at = verdict.state;
    return verdict.violations;
  });
}

function closersOf(log: readonly SessionEvent[]): readonly SessionEvent[] {
  const events = referenceClosers(log);
  return ours({ header: HEADER, events }).events;
}

const HEADER = {
  version: 0,
  id: "x",
  createdAt: 0,
  delegationDepth: 0,
} as const;

function placed(events: readonly NewEvent[], from = 0): SessionEvent[] {
  const numbered = events.map((event, at) => ({
    ...event,
    seq: from + at,
    time: 1,
  }));
  return [...ours({ header: HEADER, events: numbered }).events];
}

function throughJson(state: RulesState): RulesState {
  return JSON.parse(JSON.stringify(state));
}

/** An answer that asks for calls of these ids. */
function call(...ids: readonly string[]): NewEvent {
  return answer(
    ids.map((id) => ({ type: "tool-call", id, name: "x", arguments: "{}" })),
    [],
  );
}

/** The example A2: seqs 0 to 6. */
function A2(): NewEvent[] {
  return [
    ...openStep(),
    prompt("hi"),
    requestHeader(),
    call("c1", "c2"),
    toolCall("c1"),
    toolCall("zz"),
  ];
}

/** Opens and settles one of everything; `seq` is that of its first event. */
function busyTurn(turn: number, seq: number): NewEvent[] {
  const place = { turn, step: 1 };
  const id = `id-${turn}`;
  const inTurn = (event: NewEvent): NewEvent => ({
    ...event,
    data: Object.assign({}, event.data, place),
  });
  const source = { kind: "user" };
  const queued = { id, role: "user", content: [], source };
  const splice = { target: "next-turn", start: 0 };
  const retry = { retryId: id, ...place, retry: 1 };
  const policy = { provider: "p", mode: "always", policyKey: "default" };
  const failure = { message: "gone", code: "TRANSPORT" };
  const compaction = { compactionId: id, turn };
  return [
    { type: "agent/inbox/spliced", data: { ...splice, inserted: [queued] } },
    { type: "turn/start", data: { turn } },
    {
      type: "agent/inbox/spliced",
      data: { ...splice, removedCount: 1, inserted: [] },
    },
    { type: "command/run", data: { commandId: id, name: "x", source } },
    { type: "command/done", data: { commandId: id, kind: "success" } },
    { type: "step/start", data: place },
    requestHeader(),
    {
      type: "llm/retry",
      data: { ...retry, ...policy, delayMs: 0, failure },
    },
    { type: "llm/retry-started", data: retry },
    inTurn(call(id)),
    { type: "approval/asked", data: { id, toolName: "x" } },
    { type: "approval/decided", data: { id, outcome: "rejected" } },
    inTurn(toolCall(id)),
    inTurn({ ...toolResult(id, "x"), sourceEventSeqs: [seq + 12] }),
    { type: "compaction/start", data: compaction },
    { type: "compaction/end", data: { ...compaction, error: "x" } },
    { type: "step/end", data: place },
    { type: "turn/end", data: { turn, reason: { kind: "completed" } } },
  ];
}
