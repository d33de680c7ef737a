/** A model's answer as it is streamed: chunks of blocks, usage and finish, then the message they amount to. */
import type { SessionEvent } from "../../src/events/event.ts";
import type { JsonObject } from "../../src/events/json.ts";
import type { LogPen } from "./log-pen.ts";
import type { Random } from "./random.ts";
import { jsonTokens, proseTokens } from "./texts.ts";
import { createToolCall, type ToolCall } from "./tool-calls.ts";

export const PROVIDER = "example-provider";
export const MODEL = "example-model-1";

/** A step of the log. */
export interface Place {
  readonly turn: number;
  readonly step: number;
}

/** An answer before it is streamed. */
export interface Answer {
  readonly blocks: readonly Block[];
  readonly calls: readonly ToolCall[];
  readonly usage: JsonObject;
  /** Tokens of the answer, which the next request carries too. */
  readonly outputTokens: number;
}

interface Block {
  /** The whole block, as its end and the message have it. */
  readonly block: JsonObject & { readonly type: string };
  /** What each of its deltas adds. */
  readonly tokens: readonly string[];
  readonly deltaOf: (index: number, token: string) => JsonObject;
}

/** Longest reasoning and longest text, in deltas: bounds what has to be held of an answer. */
const MAX_PROSE_DELTAS = 1_500;

/** @param contextTokens what the request carries */
export function createAnswer(
  random: Random,
  contextTokens: number,
  isLast: boolean,
): Answer {
  const calls = isLast
    ? []
    : Array.from({ length: callCount(random) }, () => createToolCall(random));
  const reasoning = prose(random, "reasoning", 215);
  const blocks = [
    reasoning,
    ...(isLast || random.chance(0.47)
      ? [prose(random, "text", isLast ? 160 : 50)]
      : []),
    ...calls.map(callBlock),
  ];
  const outputTokens = blocks.reduce(
    (sum, { tokens }) => sum + tokens.length,
    0,
  );
  const cacheReadTokens = contextTokens - (contextTokens % 64);
  const usage = {
    inputTokens: contextTokens - cacheReadTokens + random.below(400),
    outputTokens,
    cacheReadTokens,
    reasoningTokens: reasoning.tokens.length,
  };
  return { blocks, calls, usage, outputTokens };
}

/** Yields the chunks and the message. */
export function* streamAnswer(
  pen: LogPen,
  random: Random,
  place: Place,
  answer: Answer,
): Generator<SessionEvent> {
  const { blocks, calls, usage } = answer;
  const firstSeq = pen.nextSeq;
  const chunk = (data: JsonObject, afterMs = 0): SessionEvent =>
    pen.write("assistant/chunk", { ...place, chunk: data }, afterMs);
  for (const [index, { block, tokens, deltaOf }] of blocks.entries()) {
    const start = { type: "block-start", index, blockType: block.type };
    yield chunk(start, index === 0 ? random.logNormal(900, 0.6, 20_000) : 0);
    for (const token of tokens)
      yield chunk(deltaOf(index, token), pauseMs(random));
  }
  for (const [index, { block }] of blocks.entries())
    yield chunk({ type: "block-end", index, block });
  yield chunk({ type: "usage", usage });
  const kind = calls.length === 0 ? "stop" : "tool-calls";
  yield chunk({ type: "finish", reason: { kind } });
  const sourceEventSeqs = Array.from(
    { length: pen.nextSeq - firstSeq },
    (_, at) => firstSeq + at,
  );
  const message = {
    role: "assistant",
    content: blocks.map(({ block }) => block),
    source: { kind: "model", provider: PROVIDER, model: MODEL },
    id: random.uuid(),
  };
  yield pen.writeMessage(
    "assistant/message",
    { ...place, message, usage },
    { sourceEventSeqs },
  );
}

function callCount(random: Random): number {
  const share = random.below(100);
  return share < 86 ? 1 : share < 96 ? 2 : 3;
}

function prose(
  random: Random,
  type: "reasoning" | "text",
  medianDeltas: number,
): Block {
  const deltas = random.logNormal(medianDeltas, 0.75, MAX_PROSE_DELTAS);
  const tokens = proseTokens(random, deltas);
  return {
    block: { type, text: tokens.join("") },
    tokens,
    deltaOf: (index, text) => ({ type: `${type}-delta`, index, text }),
  };
}

function callBlock(call: ToolCall): Block {
  const { id, name } = call;
  return {
    block: { type: "tool-call", ...call },
    tokens: ["", ...jsonTokens(call.arguments)],
    deltaOf: (index, argumentsDelta) => ({
      type: "tool-call-delta",
      index,
      id,
      name,
      argumentsDelta,
    }),
  };
}

/** Deltas arrive in bursts, as many as fit in a packet. */
function pauseMs(random: Random): number {
  const bits = random.bits();
  const share = bits & 0xff;
  if (share < 150) return 0;
  if (share < 172) return 1;
  if (share < 245) return 25 + ((bits >>> 8) & 7);
  return share < 254 ? 52 + ((bits >>> 8) & 7) : 100 + ((bits >>> 8) & 0x7f);
}
