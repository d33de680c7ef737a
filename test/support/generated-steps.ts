/** Generated steps: input, request header, attempts, the answer, and the tools it asked for. */

import * as fc from "fast-check";
import { asideMove, playAside, type AsideMove } from "./generated-asides.ts";
import {
  attemptMove,
  streamAttempt,
  type AttemptMove,
  type Streamed,
} from "./generated-chunks.ts";
import type { LogWriter } from "./generated-log-writer.ts";
import {
  inputMove,
  playInput,
  type Block,
  type InputMove,
} from "./generated-messages.ts";
import {
  failureMove,
  playFailures,
  playRequest,
  requestMove,
  type FailureMove,
  type RequestMove,
} from "./generated-requests.ts";
import { playTools, toolMove, type ToolMove } from "./generated-tools.ts";
import { some, usage, type Usage } from "./generated-values.ts";

/** How the last attempt of a step ends. */
export type StepEnd = "finished" | "max-tokens" | "cancelled" | "failed";

/** One model request, as often as it is tried, and what follows from its answer. */
export interface StepMove {
  readonly inputs: readonly InputMove[];
  readonly request: RequestMove;
  readonly failures: readonly FailureMove[];
  readonly attempt: AttemptMove;
  readonly ends: StepEnd;
  /** What the answer says about its chunks; `no-chunks` stands for an answer that was not streamed. */
  readonly cites: "chunks" | "chunks-reversed" | "unknown" | "no-chunks";
  readonly usage: Usage | "as-streamed" | "none";
  readonly tools: readonly ToolMove[];
  readonly inParallel: boolean;
  readonly asides: readonly AsideMove[];
}

/** Steps; most of them finish at the first attempt. */
export const stepMove: fc.Arbitrary<StepMove> = fc.record({
  inputs: fc.array(inputMove, { maxLength: 2 }),
  request: requestMove,
  failures: fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: some(failureMove, 2) },
  ),
  attempt: attemptMove,
  ends: fc.oneof(
    { weight: 4, arbitrary: fc.constant<StepEnd>("finished") },
    {
      weight: 2,
      arbitrary: fc.constantFrom<StepEnd>("max-tokens", "cancelled", "failed"),
    },
  ),
  cites: fc.oneof(
    { weight: 3, arbitrary: fc.constant("chunks" as const) },
    {
      weight: 2,
      arbitrary: fc.constantFrom("chunks-reversed", "unknown", "no-chunks"),
    },
  ),
  usage: fc.oneof(
    { weight: 3, arbitrary: fc.constant("as-streamed" as const) },
    { weight: 1, arbitrary: fc.constant("none" as const) },
    { weight: 1, arbitrary: usage },
  ),
  tools: fc.array(toolMove, { maxLength: 3 }),
  inParallel: fc.boolean(),
  asides: fc.array(asideMove, { maxLength: 1 }),
});

/** Plays the step in the open turn and says how it ended. */
export function playStep(writer: LogWriter, move: StepMove): StepEnd {
  const { turn, nextStep: step } = writer.state;
  const ends = move.cites === "no-chunks" ? "finished" : move.ends;
  writer.append("step/start", { turn, step }, { step, nextStep: step + 1 });
  for (const input of move.inputs) playInput(writer, input);
  playRequest(writer, move.request);
  playFailures(writer, move.failures);
  const streamed =
    move.cites === "no-chunks"
      ? { seqs: [], blocks: textsOf(move), usage: null }
      : streamAttempt(writer, move.attempt, (blocks) => reasonOf(ends, blocks));
  const content = contentOf(ends, streamed.blocks);
  const silent = ends === "cancelled" && content.length === 0;
  if (ends !== "failed" && !silent) {
    appendAnswer(writer, move, streamed, content, ends === "cancelled");
    if (ends === "finished")
      playTools(writer, content, move.tools, move.inParallel);
  }
  for (const aside of move.asides) playAside(writer, aside);
  writer.append("step/end", { turn, step }, { step: null });
  return ends;
}

function appendAnswer(
  writer: LogWriter,
  move: StepMove,
  { seqs, usage: sampled }: Streamed,
  content: readonly Block[],
  interrupted: boolean,
): void {
  const { turn, step, route } = writer.state;
  const used = move.usage === "as-streamed" ? sampled : move.usage;
  writer.appendMessage({
    type: "assistant/message",
    data: {
      turn,
      step,
      message: {
        id: `m${writer.nextId()}`,
        role: "assistant",
        content,
        source: { kind: "model", ...route },
      },
      ...(used === null || used === "none" ? {} : { usage: used }),
      ...(interrupted ? { interrupted: true } : {}),
    },
    content,
    group: `${turn}/${step}`,
    sources:
      move.cites === "unknown"
        ? undefined
        : move.cites === "chunks-reversed"
          ? seqs.toReversed()
          : seqs,
  });
}

/** A tool call that the limit cut is dropped; of a cancelled answer only what one can see is kept. */
function contentOf(
  ends: StepEnd,
  streamed: readonly Block[],
): readonly Block[] {
  if (ends === "finished") return streamed;
  return streamed.filter(
    (block) =>
      (block.type === "text" || block.type === "reasoning") &&
      (ends === "max-tokens" || block.text.trim() !== ""),
  );
}

function reasonOf(
  ends: StepEnd,
  streamed: readonly Block[],
): { kind: string; [fact: string]: unknown } {
  const failure = { message: "gone", code: "TRANSPORT" };
  if (ends === "max-tokens") return { kind: "max-tokens" };
  if (ends !== "finished")
    return { kind: ends === "failed" ? "error" : "aborted", failure };
  return streamed.some(({ type }) => type === "tool-call")
    ? { kind: "tool-calls" }
    : { kind: "stop", replayState: { response: { id: "r" } } };
}

/** Content of an answer that was not streamed. */
function textsOf({ attempt }: StepMove): Block[] {
  return attempt.blocks.map(({ deltas }) => ({
    type: "text",
    text: deltas.join(""),
  }));
}
