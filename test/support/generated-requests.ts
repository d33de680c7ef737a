/** Generated requests: the header they carry, and what follows when an attempt fails. */

import * as fc from "fast-check";
import {
  streamAttempt,
  attemptMove,
  type AttemptMove,
} from "./generated-chunks.ts";
import {
  compactionMove,
  playCompaction,
  type CompactionMove,
} from "./generated-compaction.ts";
import type { LogWriter, Route } from "./generated-log-writer.ts";
import { json, oddText, type Json } from "./generated-values.ts";

/** Where the next request goes and with what. */
export interface RequestMove {
  readonly route: Route;
  readonly effort: boolean;
  readonly system: string;
  readonly parameters: Json;
  /** Logged as request/context when a number; 0 stands for a window nobody knows. */
  readonly windowTokens: number | null;
}

/** An attempt that fails, and what is done about it. */
export interface FailureMove {
  readonly attempt: AttemptMove;
  /** A retry after a delay, or a compaction because the context was too long. */
  readonly remedy: "retry" | CompactionMove;
  readonly limited: boolean;
}

const routes: readonly Route[] = [
  { provider: "example-ai", model: "sonar-large" },
  { provider: "example-ai", model: "sonar-mini" },
  { provider: "lakeside", model: "heron-2" },
];

/** Requests that mostly stay with one model. */
export const requestMove: fc.Arbitrary<RequestMove> = fc.record({
  route: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...routes.slice(0, 1)) },
    { weight: 1, arbitrary: fc.constantFrom(...routes) },
  ),
  effort: fc.boolean(),
  system: oddText,
  parameters: json,
  windowTokens: fc.option(fc.constantFrom(0, 1000, 200_000)),
});

/** Failures of any length, with usage or without. */
export const failureMove: fc.Arbitrary<FailureMove> = fc.record({
  attempt: attemptMove,
  remedy: fc.oneof(
    { weight: 4, arbitrary: fc.constant("retry" as const) },
    { weight: 1, arbitrary: compactionMove },
  ),
  limited: fc.boolean(),
});

/** Logs the request header where one is due: first, after a resume, or for another model. */
export function playRequest(writer: LogWriter, move: RequestMove): void {
  const { route, resumed } = writer.state;
  const { provider, model } = move.route;
  const same = route?.provider === provider && route.model === model;
  if (same && !resumed) return;
  const header = {
    config: {
      provider,
      model,
      ...(move.effort ? { reasoningEffort: "high" } : {}),
    },
    ...(move.effort ? { adapterDefaults: { reasoningEffort: true } } : {}),
    ...(move.system === "" ? {} : { system: move.system }),
    tools: [{ name: "bash", description: "", parameters: move.parameters }],
  };
  const reason = route === null ? "initial" : resumed ? "resume" : "change";
  writer.append(
    "request/header",
    { header, reason },
    { route: move.route, resumed: false },
  );
  const { windowTokens } = move;
  if (windowTokens === null) return;
  const known = windowTokens > 0 ? { contextWindow: windowTokens } : {};
  writer.append("request/context", { provider, model, ...known });
}

/** Plays attempts that fail, inside the open step, each with its remedy. */
export function playFailures(
  writer: LogWriter,
  moves: readonly FailureMove[],
): void {
  const { turn, step, route } = writer.state;
  const retryId = `retry-${writer.nextId()}`;
  let retry = 0;
  for (const { attempt, remedy, limited } of moves) {
    const failure = {
      message: "overloaded \u0000",
      code: "SERVER",
      status: 503,
    };
    streamAttempt(writer, attempt, () => ({ kind: "error", failure }));
    if (remedy !== "retry") {
      playCompaction(writer, remedy);
      continue;
    }
    retry += 1;
    writer.append("llm/retry", {
      retryId,
      turn,
      step,
      provider: route?.provider,
      ...(limited ? { mode: "normal" } : { mode: "always" }),
      policyKey: "default",
      retry,
      ...(limited ? { maxRetries: 5 } : {}),
      delayMs: 500 * retry,
      failure,
    });
    writer.append("llm/retry-started", { retryId, turn, step, retry });
  }
}
