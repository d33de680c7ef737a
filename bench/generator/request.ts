/** A step: the request, tried again where the provider had no room, its answer, and the tools it calls. */
import type { SessionEvent } from "../../src/events/event.ts";
import { createAnswer, PROVIDER, streamAnswer, type Place } from "./answer.ts";
import type { LogPen } from "./log-pen.ts";
import type { Random } from "./random.ts";
import { resultText, type ToolCall } from "./tool-calls.ts";

/** What the steps of a log share. */
export interface Log {
  readonly pen: LogPen;
  readonly random: Random;
  /** Tokens that the next request carries. */
  contextTokens: number;
}

/** Tokens of the largest request; a log that has reached it goes on as if it grew no more. */
export const CONTEXT_WINDOW = 200_000;

export function* writeRequest(
  log: Log,
  place: Place,
  isLast: boolean,
): Generator<SessionEvent> {
  const { pen, random } = log;
  if (random.chance(0.015)) yield* writeRetry(log, place);
  const answer = createAnswer(random, log.contextTokens, isLast);
  yield* streamAnswer(pen, random, place, answer);
  log.contextTokens += answer.outputTokens;
  for (const call of answer.calls) yield* writeToolUse(log, place, call);
  log.contextTokens = Math.min(log.contextTokens, CONTEXT_WINDOW);
}

/** The provider had no room; the same request goes through a little later. */
function* writeRetry(
  { pen, random }: Log,
  place: Place,
): Generator<SessionEvent> {
  const retryId = random.uuid();
  const delayMs = random.between(500, 8_000);
  yield pen.write("llm/retry", {
    retryId,
    ...place,
    provider: PROVIDER,
    mode: "normal",
    policyKey: "rate-limit",
    retry: 1,
    maxRetries: 5,
    delayMs,
    failure: {
      message: "Too many requests",
      code: "RATE_LIMITED",
      status: 429,
    },
  });
  yield pen.write(
    "llm/retry-started",
    { retryId, ...place, retry: 1 },
    delayMs,
  );
}

function* writeToolUse(
  log: Log,
  place: Place,
  call: ToolCall,
): Generator<SessionEvent> {
  const { pen, random } = log;
  const { id: callId, name } = call;
  const callSeq = pen.nextSeq;
  yield pen.write("tool/call", {
    ...place,
    callId,
    name,
    arguments: call.arguments,
  });
  if (random.chance(0.03)) {
    const id = random.uuid();
    yield pen.write("approval/asked", { id, toolName: name, callId });
    const outcome = "allowed-once";
    yield pen.write(
      "approval/decided",
      { id, outcome },
      random.logNormal(6_000, 1, 900_000),
    );
  }
  const { text, isError } = resultText(random);
  const message = {
    role: "user",
    source: { kind: "tool", callId },
    content: [
      {
        type: "tool-result",
        toolCallId: callId,
        content: [{ type: "text", text }],
        isError,
      },
    ],
    id: random.uuid(),
  };
  const failure = { name: "ToolError", code: "TOOL_FAILED" };
  yield pen.writeMessage(
    "tool/result",
    { ...place, message, ...(isError ? { error: failure } : {}) },
    {
      sourceEventSeqs: [callSeq],
      afterMs: random.logNormal(120, 1.6, 600_000),
    },
  );
  log.contextTokens += Math.ceil(text.length / 4);
}
