/** Generated turns: queued input, steps with what happens between them, and the reason of the end. */

import * as fc from "fast-check";
import { asideMove, playAside, type AsideMove } from "./generated-asides.ts";
import type { LogWriter } from "./generated-log-writer.ts";
import { inputMove, playInput, type InputMove } from "./generated-messages.ts";
import {
  playStep,
  stepMove,
  type StepEnd,
  type StepMove,
} from "./generated-steps.ts";
import { some } from "./generated-values.ts";

/** One turn. */
export interface TurnMove {
  readonly kind: "turn";
  /** Input that comes before the first step. */
  readonly early: readonly InputMove[];
  /** Whether the first early input waited in the queue. */
  readonly queued: boolean;
  readonly steps: readonly StepMove[];
  /** What happens before the step of the same position. */
  readonly pauses: readonly AsideMove[];
  /** A reason of end that no reader knows. */
  readonly foreignEnd: boolean;
}

/** Turns of up to three steps; without any it was blocked. */
export const turnMove: fc.Arbitrary<TurnMove> = fc.record({
  kind: fc.constant("turn"),
  early: fc.array(inputMove, { maxLength: 2 }),
  queued: fc.boolean(),
  steps: some(stepMove, 4),
  pauses: fc.array(asideMove, { maxLength: 2 }),
  foreignEnd: fc.boolean(),
});

/** Plays the turn up to its end, which comes at the first step that was cancelled or failed. */
export function playTurn(writer: LogWriter, move: TurnMove): void {
  const { nextTurn: turn } = writer.state;
  const [first, ...others] = move.early;
  const queued =
    move.queued && first
      ? { ...first, id: first.id ?? `m${writer.nextId()}` }
      : null;
  if (queued) splice(writer, { inserted: [messageOf(queued)] });
  writer.append(
    "turn/start",
    { turn },
    { turn, nextTurn: turn + 1, nextStep: 1 },
  );
  if (queued) splice(writer, { removedCount: 1, inserted: [] });
  const early = queued ? [queued, ...others] : move.early;
  for (const input of early) playInput(writer, input);
  const ends: StepEnd[] = [];
  for (const [index, step] of move.steps.entries()) {
    const pause = move.pauses[index];
    if (pause) playAside(writer, pause);
    const end = playStep(writer, step);
    ends.push(end);
    if (end === "cancelled" || end === "failed") break;
  }
  const reason = reasonOf(ends, move.foreignEnd);
  writer.append("turn/end", { turn, reason }, { turn: null });
}

function splice(writer: LogWriter, change: object): void {
  const data = { target: "next-turn", start: 0, ...change };
  writer.append("agent/inbox/spliced", data);
}

function messageOf({ id, source, content }: InputMove): object {
  return { id, role: "user", content, source };
}

/** Hitting the output limit once marks the whole turn. */
function reasonOf(ends: readonly StepEnd[], foreign: boolean): object {
  if (ends.includes("failed"))
    return { kind: "error", error: { message: "gone", code: "TRANSPORT" } };
  if (ends.includes("cancelled"))
    return { kind: "aborted", reason: { kind: "user" } };
  if (ends.includes("max-tokens")) return { kind: "max-tokens" };
  if (ends.length === 0) return { kind: "blocked" };
  return foreign ? { kind: "acme-paused", until: null } : { kind: "completed" };
}
