/** Generated messages from people and plugins, and the blocks all messages are made of. */

import * as fc from "fast-check";
import { z } from "zod";
import type { LogWriter } from "./generated-log-writer.ts";
import {
  json,
  oddName,
  oddText,
  seldom,
  type Json,
} from "./generated-values.ts";

/** One block of a message's content. */
export type Block =
  | { readonly type: "text" | "reasoning"; readonly text: string }
  | {
      readonly type: "tool-call";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly content: readonly Block[];
      readonly isError?: boolean;
    }
  | { readonly type: "image"; readonly attachment: Json }
  | { readonly type: "x-chart"; readonly spec: Json };

/** A user/message to append: a human prompt, or context that a plugin injects. */
export interface InputMove {
  readonly id: string | null;
  readonly source: Json;
  readonly content: readonly Block[];
  readonly cites: boolean;
}

const textBlock = oddText.map((text): Block => ({ type: "text", text }));
const otherBlock = fc.oneof(
  fc.constant<Block>({
    type: "image",
    attachment: {
      attachmentId: "sha256-0",
      mediaType: "image/png",
      bytes: 68,
      width: 1,
      height: 1,
    },
  }),
  json.map((spec): Block => ({ type: "x-chart", spec })),
);

/** Content of a message or of a tool's result; now and then with a block no reader knows. */
export const blocks: fc.Arbitrary<Block[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: textBlock },
    { weight: 1, arbitrary: otherBlock },
  ),
  { maxLength: 2 },
);

/** Sources of injected messages. An instruction file's scope holds a NUL in ordinary logs. */
export const injectedSource: fc.Arbitrary<Json> = fc.oneof(
  oddText.map((summary) => ({
    kind: "plugin",
    plugin: "notes",
    form: "notice",
    summary,
  })),
  fc.constant({
    kind: "agent-instructions",
    changes: [{ scope: "/srv/shop\u0000GUIDE.md", kind: "added" }],
  }),
  json.map((detail) => ({ kind: "acme-relay", detail })),
);

/** Prompts and injected messages, about equally often. */
export const inputMove: fc.Arbitrary<InputMove> = fc.record({
  id: seldom(oddName),
  source: fc.oneof(
    fc.constantFrom<Json>({ kind: "user" }, { kind: "user", rpcId: "r-1" }),
    injectedSource,
  ),
  content: blocks,
  cites: fc.boolean(),
});

/** Appends the message at the end of the surface. */
export function playInput(writer: LogWriter, move: InputMove): void {
  const { prompts } = writer.state;
  const { content, source } = move;
  const id = move.id ?? `m${writer.nextId()}`;
  const earlier = writer.events.length - 1;
  const seq = writer.appendMessage({
    type: "user/message",
    data: { id, role: "user", content, source },
    content,
    ...(move.cites && earlier >= 0 ? { sources: [earlier] } : {}),
  });
  if (isHuman(source)) writer.update({ prompts: [...prompts, seq] });
}

/** Size of a message by the reference's fixed heuristic: four characters a token, four tokens a frame. */
export function priceOf(content: readonly Block[]): number {
  return blocksPrice(content) + 4;
}

function blocksPrice(content: readonly Block[]): number {
  return content.reduce((sum, block) => sum + blockPrice(block) + 4, 0);
}

function blockPrice(block: Block): number {
  switch (block.type) {
    case "text":
    case "reasoning":
      return quarter(block.text);
    case "tool-call":
      return quarter(block.name) + quarter(block.arguments);
    case "tool-result":
      return blocksPrice(block.content);
    case "image":
    case "x-chart":
    default:
      return quarter(JSON.stringify(block));
  }
}

function quarter(text: string): number {
  return Math.ceil(text.length / 4);
}

function isHuman(source: Json): boolean {
  return z.object({ kind: z.literal("user") }).safeParse(source).success;
}
