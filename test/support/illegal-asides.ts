/** Events put into a legal log that may be wrong where they stand: those with rules of their own beside the conversation. */
import type { AnyEvent } from "./illegal-changes.ts";
import { event, stepNear, type Insert } from "./illegal-inserts.ts";
import {
  DESCRIPTORS,
  GOALS,
  input,
  queued,
  round,
  SPLICES,
  titles,
} from "./illegal-payloads.ts";
import { nth, part, type Place } from "./illegal-places.ts";

/** Compactions, retries, questions, goals, queues and other asides, by name. */
export const ASIDE_INSERTS: Readonly<Record<string, Insert>> = {
  "a compaction that starts": ({ turn }, n) => [
    event("compaction/start", bracket(nth([turn, turn, null, 9], n))),
  ],
  "two compactions at once": ({ turn }) => [
    event("compaction/start", bracket(turn)),
    event("compaction/start", { ...bracket(turn), compactionId: "second" }),
  ],
  "a compaction that ends": ({ turn }, n) => [
    event("compaction/end", { ...bracket(turn), ...nth(ERRORS, n) }),
  ],
  "a compaction that replaced nothing": ({ turn }, n) => [
    event("compaction/start", bracket(turn)),
    event("compaction/end", { ...bracket(turn), ...nth(ERRORS, n) }),
  ],
  "a turn's end inside a compaction": ({ turn }, n) => [
    event("compaction/start", bracket(turn)),
    event("turn/end", {
      turn,
      reason: { kind: nth(["completed", "interrupted"], n) },
    }),
  ],
  "a compaction": compaction,
  "a pruning of something else": ({ surface }, n) => [
    event("compaction/prune", shadowed([nth(surface, n) ?? 0])),
    event(
      "user/message",
      input(null),
      replaced([nth(surface, part(n, 1)) ?? 0]),
    ),
  ],
  "a retry": (place, n) => [event("llm/retry", retry(place, n))],
  "a retry that starts": (place, n) => [
    event("llm/retry-started", {
      ...stepNear(place, n),
      retryId: "r",
      retry: 1 + (part(n, 1) % 2),
    }),
  ],
  "a question": (_place, n) => [
    event("approval/asked", { id: nth(["q", "approval-1"], n), toolName: "x" }),
  ],
  "an answer to a question": (_place, n) => [
    event("approval/decided", {
      id: nth(["q", "approval-1", "approval-2"], n),
      outcome: nth(["rejected", "maybe", "cancelled"], part(n, 1)),
    }),
  ],
  "a command": (_place, n) => [
    event("command/run", {
      commandId: nth(["c", "command-1"], n),
      name: "compact",
      source: { kind: "user" },
    }),
  ],
  "a command's end": ({ seq }, n) => [
    event("command/done", {
      commandId: nth(["c", "command-1"], n),
      kind: "success",
      ...nth([{}, { sourceEventSeq: seq }, { sourceEventSeq: 0 }], part(n, 1)),
    }),
  ],
  "a hook": ({ turn }, n) => [
    event("hook/invoked", {
      turn: nth([turn, 9, null], n),
      point: "stop",
      dialect: "codex",
      handlerId: "h",
    }),
  ],
  "a hook's result": ({ turn }, n) => [
    event("hook/result", {
      turn: nth([turn, 9, null], n),
      point: "stop",
      handlerId: "h",
      decision: "allow",
      durationMs: 1,
    }),
  ],
  "code that calls a tool": (_place, n) => [
    event("tool/code-dispatch-start", {
      rootCallId: "c",
      parentCallId: "c",
      subCallId: `c:code:${n}`,
      name: "x",
      arguments: {},
    }),
  ],
  "a goal": (_place, n) => [event("goal/change", nth(GOALS, n))],
  "a goal twice": () => [
    event("goal/change", GOALS[0]),
    event("goal/change", GOALS[0]),
  ],
  "a round of a goal": (_place, n) => [
    event("goal/change", GOALS[0]),
    event("user/message", round(n % 3), { surfaceOp: "append" }),
  ],
  "an edit of the queue": (_place, n) => [
    event("agent/inbox/spliced", nth(SPLICES, n)),
  ],
  "a message queued twice": () => [
    event("agent/inbox/spliced", queued("next-turn")),
    event("agent/inbox/spliced", queued("next-step")),
  ],
  "a title": ({ seq }, n) => [event("session/title", nth(titles(seq), n))],
  "a type of former versions": (_place, n) => [
    event(nth(["mode/set", "request/header-delta"], n) ?? "", {}, marked(n)),
  ],
  "a type that nobody knows": (_place, n) => [
    event(nth(STRANGE_TYPES, n) ?? "", {}, marked(n)),
  ],
  "a packed row's name": (_place, n) => [
    event(nth(["text-chunks", "tool-call-chunks"], n) ?? "", {}, marked(n)),
  ],
  "a number that JSON loses": (_place, n) => [
    event("feedback/record", { text: "x", n: nth([-0, NaN, Infinity, 1], n) }),
  ],
  "a subagent's descriptor": (_place, n) => [
    event("subagent/descriptor", nth(DESCRIPTORS, n)),
  ],
};

const STRANGE_TYPES = [
  "acme/strange",
  "",
  "acme/\n",
  "acme/\u0000",
  "acme/\ud83d",
];

const ERRORS: readonly object[] = [{}, { error: "failed" }];

/** Half of the events of strange types say that a reader may pass over them. */
function marked(n: number): object {
  return part(n, 4) % 2 === 0 ? { ignorable: true } : {};
}

function bracket(turn: unknown): object {
  return { compactionId: "put-in", turn };
}

/** A whole compaction of the first node; one in two is right. */
function compaction(place: Place, n: number): readonly AnyEvent[] {
  const { turn, surface, seq } = place;
  const [first = 0, second = first] = surface;
  const wrong = (part(n, 1) % 7) - 2;
  const hidden = wrong === 0 ? second : first;
  const summary = event("compaction/summary", {
    compactionId: wrong === 1 ? "other" : "put-in",
    summary: [],
    ...shadowed([first]),
    provider: "p",
    model: "x",
  });
  const checkpoint = event(
    "user/message",
    input(wrong === 2 ? "other" : "put-in"),
    replaced([hidden, ...(hidden === seq ? [] : [seq])]),
  );
  return [
    event("compaction/start", bracket(turn)),
    summary,
    ...(wrong === 3 ? [event("feedback/record", { text: "between" })] : []),
    ...(wrong === 4 ? [summary] : []),
    checkpoint,
    event("compaction/end", bracket(turn)),
  ];
}

function shadowed(seqs: readonly number[]): object {
  const shadowedRange = { start: seqs[0], end: seqs.at(-1) };
  return { shadowedRange, shadowedSeqs: seqs, shadowedTokenCount: 0 };
}

function replaced(sources: readonly number[]): object {
  const [start] = sources;
  const surfaceOp = { op: "replace", start, end: start };
  return { surfaceOp, sourceEventSeqs: sources };
}

function retry(place: Place, n: number): object {
  const { provider } = place;
  const [mode, maxRetries] = nth([["normal", 0], ["always"]], part(n, 1)) ?? [];
  return {
    ...stepNear(place, n),
    retryId: "r",
    policyKey: "p",
    retry: 1 + (part(n, 2) % 3),
    mode,
    delayMs: 1,
    provider: nth([provider, provider, "other"], part(n, 3)),
    failure: { message: "busy", code: "SERVER" },
    ...(maxRetries === undefined ? {} : { maxRetries }),
  };
}
