/** Events put into a legal log that may be wrong where they stand: turns, steps, tools, messages and replacements. */
import { isRecord, type AnyEvent } from "./illegal-changes.ts";
import { at1, nth, part, type Place } from "./illegal-places.ts";

/** Gives the events to put in at a place; `n` chooses among what is possible there. */
export type Insert = (place: Place, n: number) => readonly AnyEvent[];

/** Events on brackets and on the surface, by name. */
export const CORE_INSERTS: Readonly<Record<string, Insert>> = {
  "a turn that starts": ({ nextTurn }, n) => [
    event("turn/start", { turn: nth(around(nextTurn), n) }),
  ],
  "a turn that ends": ({ turn }, n) => [
    event("turn/end", {
      turn: nth(around(turn), n),
      reason: { kind: nth(["completed", "interrupted"], part(n, 1)) },
    }),
  ],
  "a step that starts": ({ turn, nextStep }, n) => [
    event("step/start", {
      turn: nth([turn, turn, ...around(turn)], part(n, 1)),
      step: nth(around(nextStep), n),
    }),
  ],
  "a step that ends": (place, n) => [event("step/end", stepNear(place, n))],
  "a chunk": (place, n) => [
    event("assistant/chunk", {
      ...stepNear(place, n),
      chunk: { type: "text-delta", index: 0, text: "x" },
    }),
  ],
  "an answer": (place, n) => [
    event(
      "assistant/message",
      { ...stepNear(place, n), message: ANSWER },
      { surfaceOp: "append", ...sourcesNear(place, part(n, 1)) },
    ),
  ],
  "a call": (place, n) => [
    event("tool/call", {
      ...stepNear(place, n),
      callId: nth(callsNear(place), part(n, 1)),
      name: "x",
      arguments: "{",
    }),
  ],
  "a result": (place, n) => [
    event("tool/result", result(place, n), {
      surfaceOp: "append",
      ...(part(n, 1) % 3 === 0 ? sourcesNear(place, part(n, 2)) : {}),
    }),
  ],
  "a list of things to do": (_place, n) => [
    event("todo/write", { todos: nth(TODOS, n) }),
  ],
  "a request header": () => [
    event("request/header", {
      header: { config: { provider: "p", model: "x" } },
      reason: "change",
    }),
  ],
  "a request context": () => [
    event("request/context", { provider: "p", model: "x" }),
  ],
  "an end of the seed": () => [event("session/end-seed", {})],
  "a message": (place, n) => [
    event("user/message", input(n), {
      surfaceOp: nth(OPERATIONS, n),
      ...sourcesNear(place, part(n, 1)),
    }),
  ],
  "a replacement": (place, n) => [
    event("user/message", input(n), replacement(place, n)),
  ],
  "an answer in place of others": (place, n) => [
    event(
      "assistant/message",
      { ...stepNear(place, 0), message: ANSWER },
      replacement(place, n),
    ),
  ],
  "a rewritten result": rewrite,
  "an operation where none may be": (_place, n) => [
    event("feedback/record", { text: "x" }, nth(FORBIDDEN, n) ?? {}),
  ],
  "a note": () => [event("feedback/record", { text: "x" })],
};

/** An event of any type with any marks. */
export function event(
  type: string,
  data: unknown,
  marks: object = {},
): AnyEvent {
  return { type, time: 1_790_000_000_001, data, ...marks };
}

/** Values around a number, the number itself first. */
function around(value: number | null): readonly unknown[] {
  const [at, or] = value === null ? [null, 1] : [value, null];
  return [at, or, (value ?? 0) + 1, (value ?? 0) - 1, 0, String(value), 1.5];
}

/** The open turn and step half of the time, else others. */
export function stepNear(
  { turn, step }: Place,
  n: number,
): { readonly turn: unknown; readonly step: unknown } {
  if (part(n, 10) % 2 === 0) return { turn, step };
  return {
    turn: nth([turn, ...around(turn)], part(n, 11)),
    step: nth([step, ...around(step)], part(n, 12)),
  };
}

const ANSWER = {
  id: "m-put-in",
  role: "assistant",
  content: [{ type: "text", text: "x" }],
  source: { kind: "model", provider: "p", model: "x" },
};

const OPERATIONS = ["append", "append", "append", undefined, null, "Append"];
const FORBIDDEN = [
  { surfaceOp: "append" },
  { sourceEventSeqs: [] },
  { surfaceOp: { op: "replace", start: 0, end: 0 }, sourceEventSeqs: [0] },
];
const TODOS = [[], [{ content: "x", status: "pending" }], null, ["x"]];

function input(n: number): object {
  const source = n % 5 === 0 ? { kind: "goal", goalId: "g" } : { kind: "user" };
  return { id: `m-put-in-${n}`, role: "user", content: [], source };
}

/** Calls to answer: those of the step, and ids that no call has. */
function callsNear({ calls }: Place): readonly string[] {
  return [...calls.slice(0, 4), "nobody", "constructor", "__proto__"];
}

function result(place: Place, n: number): object {
  const callId = nth(callsNear(place), n);
  const [isError, code] = nth(OUTCOMES, part(n, 3)) ?? [];
  return {
    ...stepNear(place, n),
    message: {
      id: `m-put-in-${n}`,
      role: "user",
      source: { kind: "tool", callId },
      content: [
        {
          type: "tool-result",
          toolCallId: callId,
          content: [],
          ...(isError === undefined ? {} : { isError }),
        },
      ],
    },
    ...(code === undefined ? {} : { error: { name: "E", code } }),
  };
}

const OUTCOMES: readonly (readonly [boolean?, string?])[] = [
  [],
  [],
  [true, "TOOL_NOT_STARTED"],
  [false, "TOOL_NOT_STARTED"],
  [true, "EXIT_STATUS"],
];

function sourcesNear({ seq }: Place, n: number): object {
  const lists = [undefined, [], [0], [0, 0], [seq], [seq + 1], [-1], [0.5]];
  const sources = nth([...lists, [seq - 1], [seq - 1, 0], "0"], n);
  return sources === undefined ? {} : { sourceEventSeqs: sources };
}

/** A replacement of up to three nodes; one in two is right. */
function replacement({ surface, seq }: Place, n: number): object {
  const from = surface.length === 0 ? 0 : part(n, 4) % surface.length;
  const covered = surface.slice(from, from + 1 + (part(n, 5) % 3));
  const [start, end] = [covered[0] ?? 0, covered.at(-1) ?? 0];
  const right = {
    surfaceOp: { op: "replace", start, end },
    sourceEventSeqs: covered,
  };
  const wrong: readonly object[] = [
    { ...right, surfaceOp: { op: "replace", start: end, end: start } },
    { ...right, surfaceOp: { op: "replace", start: seq - 1, end } },
    { ...right, surfaceOp: { op: "replace", start, end: seq } },
    { ...right, surfaceOp: { op: "replace", start: 0, end: 0 } },
    { ...right, sourceEventSeqs: covered.slice(1) },
    { ...right, sourceEventSeqs: [...covered, start] },
    { ...right, sourceEventSeqs: [...covered, seq] },
    { ...right, sourceEventSeqs: [] },
    { surfaceOp: right.surfaceOp },
    { ...right, surfaceOp: { ...right.surfaceOp, op: "delete" } },
    { ...right, surfaceOp: { ...right.surfaceOp, start: String(start) } },
  ];
  return nth([right, right, right, ...wrong], part(n, 6)) ?? right;
}

/** A tool result again, in place of itself or of something else. */
function rewrite(place: Place, n: number): readonly AnyEvent[] {
  const { surface, events } = place;
  const results = surface.filter((seq) => events[seq]?.type === "tool/result");
  const original = nth(results, part(n, 7));
  const data = original === undefined ? null : events[original]?.data;
  const message = at1(data, "message");
  const block: unknown = Array.from(
    Object.values(Object(at1(message, "content"))),
  )[0];
  if (!isRecord(data) || !isRecord(message) || !isRecord(block)) return [];
  const isError = block["isError"] !== true;
  const content = [{ ...block, content: [{ type: "text", text: "cut" }] }];
  const cut = { ...data, message: { ...message, content } };
  const other = {
    ...cut,
    message: { ...message, content: [{ ...block, isError }] },
  };
  const at = { op: "replace", start: original, end: original };
  const marks = { surfaceOp: at, sourceEventSeqs: [original] };
  const next = nth(surface, part(n, 8)) ?? original;
  const wrong: readonly (readonly [object, object])[] = [
    [other, marks],
    [{ ...cut, turn: Number(data["turn"]) + 1 }, marks],
    [{ ...cut, step: null }, marks],
    [{ ...cut, meta: { changed: n } }, marks],
    [{ ...cut, error: { name: "E", code: "X" } }, marks],
    [{ ...cut, message: { ...cut.message, id: "m-other" } }, marks],
    [{ ...cut, message: { ...cut.message, source: SOURCE } }, marks],
    [cut, { surfaceOp: { ...at, end: next }, sourceEventSeqs: surface }],
    [
      cut,
      { surfaceOp: { ...at, start: next, end: next }, sourceEventSeqs: [next] },
    ],
    [cut, { surfaceOp: at }],
  ];
  const right = [cut, marks] as const;
  const choices = [right, right, right, ...wrong];
  const [changed, marked] = nth(choices, part(n, 9)) ?? right;
  return [event("tool/result", changed, marked)];
}

const SOURCE = { kind: "tool", callId: "other" };
