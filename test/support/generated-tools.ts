/** Generated tool work: the calls an answer asked for and what came of them. */

import * as fc from "fast-check";
import type { LogWriter, ToolResultData } from "./generated-log-writer.ts";
import { blocks, type Block } from "./generated-messages.ts";
import { json, type Json } from "./generated-values.ts";

/** What becomes of one call. */
export interface ToolMove {
  readonly outcome: "ok" | "error" | "no-result" | "not-started";
  readonly content: readonly Block[];
  readonly meta: Json | undefined;
  readonly saysNoError: boolean;
  readonly citesCall: boolean;
}

type CallBlock = Extract<Block, { type: "tool-call" }>;

/** Tool outcomes; most of them succeed. */
export const toolMove: fc.Arbitrary<ToolMove> = fc.record({
  outcome: fc.constantFrom(
    "ok",
    "ok",
    "ok",
    "error",
    "no-result",
    "not-started",
  ),
  content: blocks,
  meta: fc.option(json, { nil: undefined }),
  saysNoError: fc.boolean(),
  citesCall: fc.boolean(),
});

/** Runs the calls one after another, or starts all of them before the first result. */
export function playTools(
  writer: LogWriter,
  content: readonly Block[],
  moves: readonly ToolMove[],
  inParallel: boolean,
): void {
  const calls = content.filter((block) => block.type === "tool-call");
  const results: (() => void)[] = [];
  for (const [index, call] of calls.entries()) {
    const move = moves[index % moves.length] ?? SIMPLE;
    const callSeq =
      move.outcome === "not-started" ? null : startCall(writer, call);
    if (move.outcome === "no-result") continue;
    const finish = (): void => finishCall(writer, call, move, callSeq);
    if (inParallel) results.push(finish);
    else finish();
  }
  for (const finish of results) finish();
}

const SIMPLE: ToolMove = {
  outcome: "ok",
  content: [],
  meta: undefined,
  saysNoError: true,
  citesCall: true,
};

function startCall(writer: LogWriter, call: CallBlock): number {
  const { turn, step } = writer.state;
  return writer.append("tool/call", {
    turn,
    step,
    callId: call.id,
    name: call.name,
    arguments: call.arguments,
  });
}

function finishCall(
  writer: LogWriter,
  call: CallBlock,
  move: ToolMove,
  callSeq: number | null,
): void {
  const { turn, step } = writer.state;
  if (turn === null || step === null) return;
  const error = ERRORS[move.outcome];
  const block = {
    type: "tool-result" as const,
    toolCallId: call.id,
    content: move.content,
    ...(error ? { isError: true } : move.saysNoError ? { isError: false } : {}),
  };
  const data: ToolResultData = {
    turn,
    step,
    message: {
      id: `m${writer.nextId()}`,
      role: "user",
      source: { kind: "tool", callId: call.id },
      content: [block],
    },
    ...(error ? { error } : {}),
    ...(move.meta === undefined ? {} : { meta: move.meta }),
  };
  writer.appendMessage({
    type: "tool/result",
    data,
    content: [block],
    sources: callSeq !== null && move.citesCall ? [callSeq] : undefined,
    group: `${turn}/${step}`,
    result: data,
  });
}

const ERRORS = {
  ok: null,
  "no-result": null,
  error: { name: "CommandFailed", code: "EXIT_STATUS" },
  "not-started": { name: "ToolNotStartedError", code: "TOOL_NOT_STARTED" },
};
