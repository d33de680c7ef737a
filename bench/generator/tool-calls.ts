/** Tool calls and their results, in the mix and the sizes of a coding agent's. */
import type { JsonObject } from "../../src/events/json.ts";
import type { Random } from "./random.ts";
import { codeText, outputText, pathOf, sentence } from "./texts.ts";
import { wordOf } from "./words.ts";

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** Characters of the few results that are as large as tools allow. */
const BIG_RESULT = { least: 30_000, most: 60_000 } as const;

export function createToolCall(random: Random): ToolCall {
  const { name, input } = toolUse(random);
  return {
    id: `call_${random.uuid().replaceAll("-", "").slice(0, 24)}`,
    name,
    arguments: JSON.stringify(input),
  };
}

/** What the tool answers. A twentieth are errors, a fiftieth as large as answers get. */
export function resultText(random: Random): {
  readonly text: string;
  readonly isError: boolean;
} {
  if (random.chance(0.05))
    return { text: `Error: ${sentence(random, 9)}`, isError: true };
  const characters = random.chance(0.02)
    ? random.between(BIG_RESULT.least, BIG_RESULT.most)
    : random.logNormal(400, 1.5, BIG_RESULT.least);
  return { text: outputText(random, characters), isError: false };
}

/** Most calls are short; the ones that write code make most of the streamed text. */
function toolUse(random: Random): { name: string; input: JsonObject } {
  const kind = random.below(100);
  if (kind < 35)
    return {
      name: "bash",
      input: {
        command: `npx ${wordOf(random.bits())} ${pathOf(random)} 2>&1 | tail -${random.between(5, 80)}`,
        description: sentence(random, random.between(3, 7)),
      },
    };
  if (kind < 55)
    return {
      name: "read",
      input: { path: pathOf(random), offset: random.below(400), limit: 200 },
    };
  if (kind < 67)
    return {
      name: "grep",
      input: { pattern: wordOf(random.bits()), path: pathOf(random) },
    };
  if (kind < 89)
    return {
      name: "edit",
      input: {
        path: pathOf(random),
        oldText: codeText(random, random.logNormal(500, 0.9, 4_000)),
        newText: codeText(random, random.logNormal(1_050, 0.9, 6_000)),
      },
    };
  return {
    name: "write",
    input: {
      path: pathOf(random),
      content: codeText(random, random.logNormal(3_000, 0.7, 9_000)),
    },
  };
}
