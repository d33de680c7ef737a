/** Where we are stricter than the reference, and where its folds are stricter than its rules and ours. */
import { isDeepStrictEqual } from "node:util";
import type { AnyEvent } from "./illegal-changes.ts";

export interface StricterRule {
  /** Name of our rule. */
  readonly rule: string;
  /** `log`: on stored logs only; `append`: on live appends only. */
  readonly where: "log" | "append" | "both";
  /** Types of events on which the reference has no such rule; absent: all. */
  readonly types?: readonly string[];
  /** What must be wrong with the event; absent: anything. */
  readonly when?: (event: AnyEvent) => boolean;
  readonly why: string;
}

const MESSAGES = ["user/message", "assistant/message", "tool/result"];

/** Rules by which we refuse what the reference takes. */
export const STRICTER_RULES: readonly StricterRule[] = [
  {
    rule: "data-shape",
    where: "both",
    why: "The reference looks at messages and request headers only; other data of a wrong shape breaks whoever folds it.",
  },
  {
    rule: "message-shape",
    where: "append",
    types: [...MESSAGES, "request/header"],
    why: "The reference takes such a message and then can't open the session again.",
  },
  {
    rule: "lossless-json",
    where: "log",
    when: isLostInJson,
    why: "The reference checks numbers at an append and not in a log it opens; -0 would come back as 0.",
  },
  {
    rule: "time",
    where: "log",
    when: isLostInJson,
    why: "A time of -0 would come back as 0.",
  },
  {
    rule: "sources",
    where: "log",
    when: isLostInJson,
    why: "A source of -0 would come back as 0.",
  },
  {
    rule: "type",
    where: "both",
    when: ({ type }) => /[\p{Cc}\p{Surrogate}]/u.test(type),
    why: "A type is a text of the database and stands in rows of a bulk load: no NUL, no line feed, no half character.",
  },
  {
    rule: "type",
    where: "both",
    types: ["text-chunks", "reasoning-chunks", "tool-call-chunks"],
    why: "The type of an event with the name of a packed row could not be told from one when the log is read.",
  },
  {
    rule: "type",
    where: "both",
    when: ({ type }) => type === "",
    why: "An event without a type tells nobody what it is, ignorable or not.",
  },
  {
    rule: "unknown-type",
    where: "append",
    why: "The reference takes any type, and its reader then refuses the log.",
  },
  {
    rule: "retired-type",
    where: "both",
    types: ["mode/set"],
    why: "The reference takes it as any unknown type, and its reader then refuses the log unless it is ignorable.",
  },
  {
    rule: "outside-step",
    where: "both",
    types: ["llm/retry", "llm/retry-started"],
    why: "A retry is a fact of its own step; the rule stands in a package that the companion does not include.",
  },
  {
    rule: "outside-turn",
    where: "both",
    types: [
      "approval/asked",
      "approval/decided",
      "hook/invoked",
      "hook/result",
      "tool/code-dispatch-start",
      "tool/code-dispatch",
      "compaction/prune",
    ],
    why: "Work of a turn stands in a turn; the rules stand in packages that the companion does not include.",
  },
  {
    rule: "retry-chain",
    where: "both",
    why: "Attempts can be told apart only where retries count on and each begins once.",
  },
  {
    rule: "approval-pairing",
    where: "both",
    why: "A decision without a question, or a question asked twice, leaves open what was allowed.",
  },
  {
    rule: "command-pairing",
    where: "both",
    why: "A command that ends without having run, or runs twice under one id, leaves open what was done.",
  },
  {
    rule: "hook-turn",
    where: "both",
    why: "A hook runs in the turn it names.",
  },
  {
    rule: "goal-change",
    where: "both",
    why: "Each revision of a goal follows from the one before, or the fold of goals fails at the next start.",
  },
  {
    rule: "inbox-splice",
    where: "both",
    why: "A splice that does not fit its queue makes the restore of the agent fail.",
  },
  {
    rule: "compaction-bracket",
    where: "both",
    why: "A compaction that is not one bracket blocks the next one, or replaces messages nobody can trace.",
  },
  {
    rule: "compaction-range",
    where: "both",
    why: "The price of a replacement is that of the range it names.",
  },
  {
    rule: "compaction-adjacency",
    where: "both",
    why: "The folds of the context take a price for the replacement right behind it.",
  },
];

/** The documented reason to refuse what the reference takes; null when there is none. */
export function stricterRule(
  where: "log" | "append",
  rule: string,
  event: AnyEvent,
): StricterRule | null {
  const found = STRICTER_RULES.find(
    (known) =>
      known.rule === rule &&
      (known.where === "both" || known.where === where) &&
      (known.types?.includes(event.type) ?? true) &&
      (known.when?.(event) ?? true),
  );
  return found ?? null;
}

/** What only a fold of the reference refuses, after the reference has opened the log and found no rule broken. */
export const FOLDS_THAT_FAIL: readonly {
  readonly message: RegExp;
  readonly why: string;
}[] = [
  {
    message: /^token meter: assistant\/message at seq \d+ source seq/,
    why: "Which chunks an answer cites is no rule of the core; usage is counted by attempts, whatever is cited.",
  },
  {
    message: /messageTokens/,
    why: "A price is an estimate of the writer's; that it exceeds the estimate so far is known to the token meter only.",
  },
];

function isLostInJson(event: AnyEvent): boolean {
  const again: unknown = JSON.parse(JSON.stringify(event));
  return !isDeepStrictEqual(event, again);
}
