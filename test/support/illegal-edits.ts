/** Edits of one event: a field that gets another value, or goes. Some leave the event legal, and that is meant. */
import { isRecord, type AnyEvent } from "./illegal-changes.ts";

export interface Edit {
  readonly type: string;
  readonly path: string;
  readonly name: string;
  readonly to: (old: unknown) => unknown;
}

const GONE = Symbol("gone");
const SURFACE = ["user/message", "assistant/message", "tool/result"];
const PLACED = ["assistant/chunk", "assistant/message", "tool/call"].concat([
  "tool/result",
  "step/start",
  "step/end",
  "llm/retry",
  "llm/retry-started",
]);

function edits(
  types: string | readonly string[],
  paths: string | readonly string[],
  ...values: readonly unknown[]
): Edit[] {
  return [types].flat().flatMap((type) =>
    [paths].flat().flatMap((path) =>
      values.map((value) => ({
        type,
        path,
        name: `${type}: ${path} ${nameOf(value)}`,
        to: (old: unknown) => (isChange(value) ? value(old) : value),
      })),
    ),
  );
}

const more = (old: unknown): unknown => Number(old) + 1;
const less = (old: unknown): unknown => Number(old) - 1;
const twice = (old: unknown): unknown =>
  Array.isArray(old) ? [...old, ...old] : [0, 0];
const fewer = (old: unknown): unknown =>
  Array.isArray(old) ? old.slice(1) : GONE;
const high = (old: unknown): unknown =>
  Array.isArray(old) ? [...old, 1_000_000] : [1_000_000];
const reversed = (old: unknown): unknown =>
  isRecord(old) ? { ...old, start: old["end"], end: old["start"] } : old;
const widened = (old: unknown): unknown =>
  isRecord(old) ? { ...old, extra: true } : old;
const negated = (old: unknown): unknown => old !== true;
const untrimmed = (old: unknown): unknown => `${String(old)} `;

const NO_TEXT = [GONE, "", 1, null];
const message = (on: string, at: string): Edit[] => [
  ...edits(on, `${at}.id`, ...NO_TEXT),
  ...edits(on, `${at}.role`, GONE, "system", "assistant", "user"),
  ...edits(on, `${at}.source`, GONE, null, "user", [], { kind: "" }),
  ...edits(on, `${at}.source.kind`, ...NO_TEXT, "model", "tool", "goal"),
  ...edits(on, `${at}.content`, GONE, "text", {}, null, []),
];

/** Edits that a live append can make. */
export const DATA_EDITS: readonly Edit[] = [
  ...edits([...PLACED, "turn/start", "turn/end"], "data.turn", more, less),
  ...edits([...PLACED, "turn/end"], "data.turn", null, GONE, "1", 1.5, -0),
  ...edits(PLACED, "data.step", more, less, null, GONE, 0),
  ...edits(SURFACE, "surfaceOp", GONE, null, 1, "replace", [], {}),
  ...edits(SURFACE, "surfaceOp", "append", reversed, widened),
  ...edits(SURFACE, "surfaceOp", { op: "replace", start: 0, end: 0 }),
  ...edits(SURFACE, "surfaceOp", { op: "append", start: 0, end: 0 }),
  ...edits(SURFACE, ["surfaceOp.start", "surfaceOp.end"], more, less, -1),
  ...edits(SURFACE, "sourceEventSeqs", GONE, [], null, "0", [0.5], [-1], ["0"]),
  ...edits(SURFACE, "sourceEventSeqs", twice, fewer, high, [0], [-0]),
  ...edits(["turn/start", "tool/call"], "surfaceOp", "append"),
  ...edits(["step/end", "session/title"], "sourceEventSeqs", [0], []),
  ...message("user/message", "data"),
  ...message("assistant/message", "data.message"),
  ...message("tool/result", "data.message"),
  ...edits("assistant/message", "data.message.source.provider", ...NO_TEXT),
  ...edits("assistant/message", "data.message.source.model", ...NO_TEXT),
  ...edits("tool/result", "data.message.source.callId", ...NO_TEXT, "nobody"),
  ...edits("tool/result", "data.message.content", twice, [null], [{}]),
  ...edits("tool/result", "data.message.content.0.type", "text", GONE),
  ...edits("tool/result", "data.message.content.0.toolCallId", "nobody", GONE),
  ...edits("tool/result", "data.message.content.0.content", "text", GONE, []),
  ...edits("tool/result", "data.message.content.0.isError", negated, GONE),
  ...edits("tool/result", "data.meta", { changed: true }, GONE),
  ...edits("tool/result", "data.error", GONE, {
    name: "ToolNotStartedError",
    code: "TOOL_NOT_STARTED",
  }),
  ...edits("request/header", "data.header", GONE, null, [], {}),
  ...edits("request/header", "data.header.config", GONE, [], "p"),
  ...edits("request/header", "data.header.config.provider", ...NO_TEXT),
  ...edits("request/header", "data.header.config.model", ...NO_TEXT),
  ...edits("request/header", "data.header.config.reasoningEffort", "", 1, GONE),
  ...edits(
    "request/header",
    "data.header.adapterDefaults",
    null,
    [],
    {},
    { maxTokens: true },
    { reasoningEffort: false },
    { temperature: true },
    { reasoningEffort: true },
  ),
  ...edits("request/header", "data.reason", "fallback", "because", GONE),
  ...edits(["user/message", "turn/start"], "data", null, [], "text"),
  ...edits("compaction/start", "data.turn", null, more, GONE),
  ...edits(
    ["compaction/start", "compaction/summary", "compaction/end"],
    "data.compactionId",
    "other",
    "",
    GONE,
  ),
  ...edits("compaction/summary", "data.sourceCommandId", "other"),
  ...edits("compaction/end", "data.error", GONE, "failed"),
  ...edits("compaction/prune", "data.shadowedTokenCount", more, -1, 0.5, 1e9),
  ...edits("compaction/summary", "data.shadowedTokenCount", more, -1, 1e9),
  ...edits("compaction/summary", "data.shadowedSeqs", fewer, [], GONE, twice),
  ...edits("compaction/prune", "data.shadowedRange", { start: 0, end: 0 }),
  ...edits("compaction/summary", "data.shadowedRange", { start: 0, end: 0 }),
  ...edits("llm/retry", "data.retry", more, 0),
  ...edits(["llm/retry", "llm/retry-started"], "data.retryId", "other", GONE),
  ...edits("llm/retry", "data.provider", "other"),
  ...edits("llm/retry", "data.maxRetries", 0, 5),
  ...edits("llm/retry", "data.delayMs", -1, 2_147_483_648),
  ...edits("approval/decided", "data.id", "nobody"),
  ...edits("approval/decided", "data.outcome", "maybe"),
  ...edits("command/done", "data.commandId", "nobody"),
  ...edits("command/done", "data.sourceEventSeq", 0, 1_000_000),
  ...edits("agent/inbox/spliced", "data.start", 1, -1),
  ...edits("agent/inbox/spliced", "data.target", "next-step", "later"),
  ...edits("agent/inbox/spliced", "data.removedCount", 9, 0),
  ...edits("session/title", "data.messageSeqs", [], [0], GONE),
  ...edits("session/title", "data.title", "", GONE),
  ...edits("session/title", "data.source", { kind: "user" }, null),
  ...edits("todo/write", "data.todos", twice, GONE, [{ content: "x" }]),
  ...edits("todo/write", "data.todos.0.content", untrimmed, ""),
  ...edits("turn/end", "data.reason", GONE, { kind: "interrupted" }, null),
  ...edits("turn/end", "data.note", 1),
];

/** Edits of the envelope, which a live append makes itself. */
export const ENVELOPE_EDITS: readonly Edit[] = [
  ...edits("*", ["extra", "sessionId"], 1, null, undefined),
  ...edits("*", "ignorable", false, 1, null, "true", true),
  ...edits("*", "seq", 1_000_000, -1, 0.5, "0", null),
  ...edits("*", "time", GONE, 0.5, "now", -0, 2 ** 53, -1),
  ...edits("*", "data", GONE, undefined),
  ...edits("*", "type", "mode/set", "request/header-delta", "acme/x", "", 1),
  ...edits("*", "type", "text-chunks", "user/message", "turn/start"),
];

/** The event with one field changed; null where it has no such field to change. */
export function edited(event: AnyEvent, edit: Edit): AnyEvent | null {
  const path = edit.path.split(".");
  const next = put(event, path, edit.to);
  return next === event || !isEvent(next) ? null : next;
}

/** Names the type only: what is wrong may be the type itself. */
function isEvent(value: unknown): value is AnyEvent {
  return isRecord(value);
}

function put(
  value: unknown,
  [key, ...rest]: readonly string[],
  to: Edit["to"],
): unknown {
  if (key === undefined) return to(value);
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    return Number(key) in list
      ? list.with(Number(key), put(list[Number(key)], rest, to))
      : value;
  }
  if (!isRecord(value)) return value;
  if (rest.length > 0 && !Object.hasOwn(value, key)) return value;
  const old = value[key];
  const next = put(old, rest, to);
  if (next === GONE) {
    const { [key]: _gone, ...others } = value;
    return key in value ? others : value;
  }
  return Object.is(next, old) && key in value
    ? value
    : { ...value, [key]: next };
}

function isChange(value: unknown): value is (old: unknown) => unknown {
  return typeof value === "function";
}

function nameOf(value: unknown): string {
  if (value === GONE) return "gone";
  if (typeof value === "function") return value.name;
  return Object.is(value, -0) ? "-0" : JSON.stringify([value]);
}
