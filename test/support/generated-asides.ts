/** Generated events beside the conversation: titles, todo lists, approvals, settings, unknown types. */

import * as fc from "fast-check";
import {
  compactionMove,
  playCompaction,
  playPrune,
  playReplace,
  pruneMove,
  replaceMove,
  type CompactionMove,
  type PruneMove,
  type ReplaceMove,
} from "./generated-compaction.ts";
import type { LogWriter } from "./generated-log-writer.ts";
import { json, oddName, type Json } from "./generated-values.ts";

/** Anything that may happen between turns, between steps or inside a step. */
export type AsideMove =
  | CompactionMove
  | PruneMove
  | ReplaceMove
  | TitleMove
  | { readonly kind: "unknown"; readonly type: string; readonly data: Json }
  | { readonly kind: "setting"; readonly which: number }
  | { readonly kind: "todo"; readonly items: number }
  | { readonly kind: "approval"; readonly answered: boolean };

interface TitleMove {
  readonly kind: "title";
  readonly source: "fallback" | "provider" | "user";
  readonly title: string;
  readonly cites: number;
}

const titleMove: fc.Arbitrary<TitleMove> = fc.record({
  kind: fc.constant("title"),
  source: fc.constantFrom("fallback", "provider", "user"),
  title: fc.oneof(oddName, fc.constantFrom("A title", "标题 🍂")),
  cites: fc.nat({ max: 20 }),
});

/** All asides; the ones that change the surface come up most. */
export const asideMove: fc.Arbitrary<AsideMove> = fc.oneof(
  { weight: 4, arbitrary: compactionMove },
  { weight: 4, arbitrary: pruneMove },
  { weight: 2, arbitrary: replaceMove },
  { weight: 3, arbitrary: titleMove },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("unknown"),
      // The store keeps types in text columns, one a line on their way: it refuses control characters and lone surrogates.
      type: oddName
        .filter((name) => !/\p{Cc}/u.test(name) && name.isWellFormed())
        .map((name) => `acme/${name}`),
      data: json,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("setting"),
      which: fc.nat({ max: 10 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("todo"),
      items: fc.nat({ max: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("approval"),
      answered: fc.boolean(),
    }),
  },
);

/** Plays the aside, or nothing where the log does not allow it now. */
export function playAside(writer: LogWriter, move: AsideMove): void {
  const inTurn = writer.state.turn !== null;
  switch (move.kind) {
    case "compaction":
      return playCompaction(writer, move);
    case "prune":
      return playPrune(writer, move);
    case "replace":
      return playReplace(writer, move);
    case "title":
      return playTitle(writer, move);
    case "unknown":
      return void writer.appendIgnorable(move.type, move.data);
    case "setting":
      return playSetting(writer, move.which);
    case "todo":
      if (inTurn) writer.append("todo/write", { todos: todos(move.items) });
      return;
    case "approval":
      if (inTurn) playApproval(writer, move.answered);
      return;
  }
}

/** A title cites human prompts, unless a person gave it. */
function playTitle(writer: LogWriter, move: TitleMove): void {
  const { prompts } = writer.state;
  const { title } = move;
  const cited = prompts[move.cites % prompts.length];
  if (cited === undefined || move.source === "user") {
    const source = { kind: "user" };
    writer.append("session/title", { title, messageSeqs: [], source });
    return;
  }
  const route = { provider: "example-ai", model: "sonar-mini" };
  if (move.source === "provider")
    writer.append("session/title-llm-request", {
      titleProvider: "titles",
      messageSeqs: [cited],
      route,
      system: "Name this session.",
      messages: [],
      maxTokens: 64,
    });
  const source =
    move.source === "provider"
      ? { kind: "provider", provider: "titles", model: route }
      : { kind: "fallback" };
  writer.append("session/title", { title, messageSeqs: [cited], source });
}

function playSetting(writer: LogWriter, which: number): void {
  const settings: readonly (readonly [string, object])[] = [
    ["approval/policy", { policy: "never", source: "delegation" }],
    ["sandbox/mode", { mode: "workspace-write" }],
    ["permission/preset", { preset: "careful" }],
    ["plan/mode", { active: true }],
    ["feedback/record", { text: "good \u0000" }],
  ];
  const [type, data] = settings[which % settings.length] ?? [];
  if (type !== undefined) writer.append(type, data);
}

function playApproval(writer: LogWriter, answered: boolean): void {
  const id = `approval-${writer.nextId()}`;
  writer.append("approval/asked", { id, toolName: "bash" });
  if (answered)
    writer.append("approval/decided", { id, outcome: "allowed-once" });
}

function todos(items: number): object[] {
  const statuses = ["completed", "in_progress", "pending"];
  return statuses
    .slice(0, items)
    .map((status) => ({ content: `${status} item`, status }));
}
