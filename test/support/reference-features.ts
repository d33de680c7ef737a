/** Names of the things a session log can show, each with the test whether a log shows it. */

import { packEvents } from "./reference-rows.ts";
import type { EventLike, LogLike } from "./reference-log.ts";

type Test = (log: LogLike) => boolean;

/** Tells which features a log shows. */
export function featuresOf(log: LogLike): string[] {
  return Object.entries(FEATURES).flatMap(([name, shows]) =>
    shows(log) ? [name] : [],
  );
}

const WEEK_MS = 7 * 24 * 3600 * 1000;

const FEATURES = {
  "no event": ({ events }) => events.length === 0,
  "a turn still open": (log) =>
    of(log, "turn/start").length > of(log, "turn/end").length,
  "several turns": (log) => of(log, "turn/start").length > 1,
  "several steps in a turn": (log) =>
    of(log, "step/start").some(({ data }) => pick(data, "step") === 2),
  "a run of text": (log) => rows(log, "text-chunks").length > 0,
  "a run of reasoning": (log) => rows(log, "reasoning-chunks").length > 0,
  "a run of arguments": (log) => rows(log, "tool-call-chunks").length > 0,
  "a run of thirty or more": (log) => gaps(log).some((run) => run.length >= 29),
  "equal times in a run": (log) => gaps(log).flat().includes(0),
  "times going back in a run": (log) =>
    gaps(log)
      .flat()
      .some((gap) => gap < 0),
  "a time before 1970": ({ events }) => events.some(({ time }) => time < 0),
  "times a week apart": ({ events }) =>
    events.some(
      ({ time }, at) =>
        Math.abs(time - (events[at - 1]?.time ?? time)) >= WEEK_MS,
    ),
  "an answer without usage": (log) =>
    of(log, "assistant/message").some(({ data }) => !pick(data, "usage")),
  "parallel tool calls": (log) => follows(log, "tool/call", "tool/call"),
  "a failed tool": (log) =>
    of(log, "tool/result").some(({ data }) => pick(data, "error")),
  "a retry": (log) => of(log, "llm/retry-started").length > 0,
  "usage of a failed attempt": (log) => failedUsages(log).length > 0,
  "a failed attempt without usage": (log) =>
    failures(log).length > failedUsages(log).length,
  "usage that a retry changes": (log) =>
    failedUsages(log).some((usage) => usage !== textOf(lastUsage(log))),
  "a compaction in a turn": (log) =>
    checkpoints(log).some(({ seq }) => openTurn(log, seq) !== null),
  "a standalone compaction": (log) =>
    checkpoints(log).some(({ seq }) => openTurn(log, seq) === null),
  "a failed compaction": (log) =>
    of(log, "compaction/end").some(({ data }) => pick(data, "error")),
  "a compaction of a checkpoint": (log) =>
    checkpoints(log).some(({ sourceEventSeqs = [] }) =>
      checkpoints(log).some(({ seq }) => sourceEventSeqs.includes(seq)),
    ),
  "a replaced range that starts at a later seq than it ends": (log) =>
    replacements(log).some(({ surfaceOp }) =>
      isReplace(surfaceOp) ? surfaceOp.start > surfaceOp.end : false,
    ),
  "a pruned tool result": (log) =>
    replacements(log).some(({ type }) => type === "tool/result"),
  "a replacement that is no compaction": (log) =>
    replacements(log).some(
      ({ type, data }) =>
        type === "user/message" && pick(data, "source", "plugin") !== "compact",
    ),
  "an answer without content": (log) =>
    of(log, "assistant/message").some(
      ({ data }) => pick(data, "message", "content", "length") === 0,
    ),
  "a cancelled answer": (log) =>
    of(log, "assistant/message").some(({ data }) => pick(data, "interrupted")),
  "a turn that hit the output limit": (log) => ended(log, "max-tokens"),
  "a turn that failed": (log) => ended(log, "error"),
  "an interrupted turn": (log) => ended(log, "interrupted"),
  "a call of unknown outcome": (log) => toolError(log, "TOOL_OUTCOME_UNKNOWN"),
  "a call that never started": (log) => toolError(log, "TOOL_NOT_STARTED"),
  "a fallback title": (log) => titled(log, "fallback"),
  "a title from a model": (log) => titled(log, "provider"),
  "a title from the user": (log) => titled(log, "user"),
  "a title between turns": (log) =>
    of(log, "session/title").some(({ seq }) => openTurn(log, seq) === null),
  "a human prompt": (log) => prompted(log, "user"),
  "an injected message": (log) => prompted(log, "plugin"),
  "inherited events": ({ header }) => (header.seedLength ?? 0) > 0,
  "a subagent": ({ header }) => header.origin === "subagent",
  "a resumed session": ({ header, events }) =>
    events.some(
      ({ type, seq }) =>
        type === "session/end-seed" && seq !== (header.seedLength ?? 0),
    ),
  "an unknown event": ({ events }) =>
    events.some(({ ignorable }) => ignorable === true),
  "a NUL": (log) => textOf(log.events).includes("\\u0000"),
  "a lone surrogate": (log) => /\\ud[89a-f]/.test(textOf(log.events)),
  "a key named __proto__": (log) => textOf(log.events).includes('"__proto__":'),
  "a call named like a member of Object": (log) =>
    of(log, "tool/call").some(
      ({ data }) => pick(data, "callId") === "constructor",
    ),
  "an emoji": (log) => /\p{Emoji_Presentation}/u.test(textOf(log.events)),
  "Chinese text": (log) => /\p{Script=Han}/u.test(textOf(log.events)),
  "an answer of unknown sources": (log) =>
    of(log, "assistant/message").some((event) => !event.sourceEventSeqs),
  "an answer without chunks": (log) =>
    of(log, "assistant/message").some(
      ({ sourceEventSeqs }) => sourceEventSeqs?.length === 0,
    ),
  "sources out of order": ({ events }) =>
    events.some(({ sourceEventSeqs = [] }) =>
      sourceEventSeqs.some((seq, at) => seq < (sourceEventSeqs[at - 1] ?? 0)),
    ),
} satisfies Record<string, Test>;

/** All names that {@link featuresOf} can give. */
export const FEATURE_NAMES: readonly string[] = Object.keys(FEATURES);

function of({ events }: LogLike, type: string): EventLike[] {
  return events.filter((event) => event.type === type);
}

function rows({ events }: LogLike, type: string): object[] {
  return packEvents(events).filter((record) => pick(record, "type") === type);
}

/** Milliseconds between the members of each packed row. */
function gaps({ events }: LogLike): number[][] {
  return packEvents(events).flatMap((record) => {
    const dt = pick(record, "data", "dt");
    return Array.isArray(dt) ? [dt.map(Number)] : [];
  });
}

function follows({ events }: LogLike, first: string, second: string): boolean {
  return events.some(
    ({ type }, at) => type === second && events[at - 1]?.type === first,
  );
}

function failures(log: LogLike): EventLike[] {
  return of(log, "assistant/chunk").filter(
    ({ data }) => pick(data, "chunk", "reason", "kind") === "error",
  );
}

/** Usage chunks come right before the finish of their attempt. */
function failedUsages(log: LogLike): string[] {
  return failures(log).flatMap(({ seq }) => {
    const usage = pick(log.events[seq - 1]?.data, "chunk", "usage");
    return usage === undefined ? [] : [textOf(usage)];
  });
}

function lastUsage(log: LogLike): unknown {
  return pick(of(log, "assistant/message").at(-1)?.data, "usage");
}

function replacements({ events }: LogLike): EventLike[] {
  return events.filter(({ surfaceOp }) => isReplace(surfaceOp));
}

function checkpoints(log: LogLike): EventLike[] {
  return replacements(log).filter(
    ({ data }) => pick(data, "source", "plugin") === "compact",
  );
}

function isReplace(
  op: EventLike["surfaceOp"],
): op is Exclude<EventLike["surfaceOp"], "append" | undefined> {
  return op !== undefined && op !== "append";
}

function openTurn({ events }: LogLike, seq: number): unknown {
  const boundary = events
    .slice(0, seq)
    .findLast(({ type }) => type === "turn/start" || type === "turn/end");
  return boundary?.type === "turn/start" ? pick(boundary.data, "turn") : null;
}

function ended(log: LogLike, kind: string): boolean {
  return of(log, "turn/end").some(
    ({ data }) => pick(data, "reason", "kind") === kind,
  );
}

function toolError(log: LogLike, code: string): boolean {
  return of(log, "tool/result").some(
    ({ data }) => pick(data, "error", "code") === code,
  );
}

function titled(log: LogLike, kind: string): boolean {
  return of(log, "session/title").some(
    ({ data }) => pick(data, "source", "kind") === kind,
  );
}

function prompted(log: LogLike, kind: string): boolean {
  return of(log, "user/message").some(
    ({ data, surfaceOp }) =>
      surfaceOp === "append" && pick(data, "source", "kind") === kind,
  );
}

function textOf(value: unknown): string {
  return JSON.stringify(value) ?? "";
}

/** Looks up own keys one after another; undefined where the path leaves the value. */
function pick(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const key of path)
    at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return at;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
