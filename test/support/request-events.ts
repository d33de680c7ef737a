/** Events of one step for tests: what a request leaves in the log, by the rules. */
import type { NewEvent } from "../../src/events/event.ts";
import { prompt } from "./events.ts";

/** Where all of these events stand. */
export const STEP = { turn: 1, step: 1 };

/** Seqs 0 to 2: an open step, and a prompt in it. */
export const OPENING: readonly NewEvent[] = [
  { type: "turn/start", data: { turn: 1 } },
  { type: "step/start", data: STEP },
  prompt("hi"),
];

export const STEP_END: NewEvent = { type: "step/end", data: STEP };

export function turnEnd(reason: object): NewEvent {
  return { type: "turn/end", data: { turn: 1, reason } };
}

export function text(value: string): object {
  return { type: "text", text: value };
}

export function requestHeader(header: object = {}): NewEvent {
  const config = { provider: "p", model: "x" };
  const data = { header: { config, ...header }, reason: "initial" };
  return { type: "request/header", data };
}

export function finish(kind: string): NewEvent {
  const failure = { message: "gone", code: "TRANSPORT" };
  const reason = kind === "error" ? { kind, failure } : { kind };
  const chunk = { type: "finish", reason };
  return { type: "assistant/chunk", data: { ...STEP, chunk } };
}

/** A failed attempt's retry and its beginning; needs a request header before it. */
export function retry(number: number): NewEvent[] {
  const data = { retryId: "r", ...STEP, retry: number };
  const failure = { message: "gone", code: "TRANSPORT" };
  const policy = { provider: "p", mode: "always", policyKey: "default" };
  return [
    { type: "llm/retry", data: { ...data, ...policy, delayMs: 0, failure } },
    { type: "llm/retry-started", data },
  ];
}

export function answer(
  content: readonly object[],
  sourceEventSeqs?: readonly number[],
): NewEvent {
  const source = { kind: "model", provider: "p", model: "x" };
  const message = { id: "a", role: "assistant", content, source };
  return {
    type: "assistant/message",
    data: { ...STEP, message },
    surfaceOp: "append",
    ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs }),
  };
}

export function toolCall(callId: string): NewEvent {
  const call = { callId, name: "bash", arguments: "{}" };
  return { type: "tool/call", data: { ...STEP, ...call } };
}

export function toolResult(
  callId: string,
  output: string,
  more: object = {},
): NewEvent {
  const block = { type: "tool-result", toolCallId: callId };
  const message = {
    id: `result-of-${callId}`,
    role: "user",
    content: [{ ...block, content: [text(output)] }],
    source: { kind: "tool", callId },
  };
  const data = { ...STEP, message, ...more };
  return { type: "tool/result", data, surfaceOp: "append" };
}

/** The event in place of the nodes from start to end. */
export function inPlaceOf(
  shadowed: readonly number[],
  event: NewEvent,
  sources: readonly number[] = [],
): NewEvent {
  const [start = 0] = shadowed;
  return {
    ...event,
    surfaceOp: { op: "replace", start, end: shadowed.at(-1) ?? start },
    sourceEventSeqs: [...sources, ...shadowed],
  };
}

/** Four events that put the summary "in short" in the place of the nodes; the first gets the seq `at`. */
export function compaction(
  at: number,
  shadowed: readonly number[],
): NewEvent[] {
  const ids = { compactionId: `k${at}` };
  const source = { kind: "plugin", plugin: "compact", ...ids };
  const summary = [text("in short")];
  const data = { id: `m${at}`, role: "user", content: summary, source };
  const checkpoint: NewEvent = { type: "user/message", data };
  return [
    { type: "compaction/start", data: { ...ids, turn: 1 } },
    {
      type: "compaction/summary",
      data: {
        ...ids,
        summary,
        ...priced(shadowed),
        provider: "p",
        model: "x",
      },
    },
    inPlaceOf(shadowed, checkpoint, [at, at + 1]),
    { type: "compaction/end", data: { ...ids, turn: 1 } },
  ];
}

/** What announces a replacement of these nodes. */
export function priced(shadowed: readonly number[]): object {
  return {
    shadowedRange: { start: shadowed[0], end: shadowed.at(-1) },
    shadowedSeqs: shadowed,
    shadowedTokenCount: 0,
  };
}
