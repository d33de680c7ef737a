import { spawnSync } from "node:child_process";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  isJsonObject,
  parseJson,
  type JsonValue,
} from "../../src/events/json.ts";
import { RuleViolation } from "../../src/events/rule-violation.ts";
import {
  checkData,
  isPlainDelta,
} from "../../src/events/schemas/check-data.ts";
import {
  eventSchemas,
  type EventData,
  type KnownType,
} from "../../src/events/schemas/event-schemas.ts";
import { isKnownType } from "../../src/events/vocabulary.ts";
import { legalLog } from "../support/generated-logs.ts";
import {
  convertedFiles,
  corpusFiles,
  corpusMissing,
  exampleFiles,
} from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { readLog, type EventLike } from "../support/reference-log.ts";

const ROOT = join(import.meta.dirname, "..", "..");

const BLOCK = { type: "text", text: "hello" };
const SEQS = [3, 4];
const ROUTE = { provider: "example-ai", model: "sonar-large" };
const STEP = { turn: 1, step: 2 };
const USER = {
  id: "m1",
  role: "user",
  source: { kind: "user" },
  content: [BLOCK],
};
const SHADOWED = {
  shadowedRange: { start: 3, end: 4 },
  shadowedSeqs: SEQS,
  shadowedTokenCount: 12,
};
const DISPATCH = {
  rootCallId: "c1",
  parentCallId: "c1",
  subCallId: "c1:code:1",
  name: "bash",
  arguments: { command: "ls" },
};
const GOAL = {
  id: "g1",
  revision: 1,
  objective: "Make the build green",
  phase: "active",
  maxGoalRounds: 5,
};
const SNAPSHOT = {
  kind: "goal/change",
  version: 1,
  operation: "create",
  goal: GOAL,
  roundsStarted: 0,
  createdAt: 5,
  updatedAt: 5,
};
const CLEAR = {
  kind: "goal/change",
  version: 1,
  operation: "clear",
  cleared: { id: "g1", revision: 2 },
  clearedAt: 9,
};
const TEXT_DELTA = { type: "text-delta", index: 0, text: "a" };
const REASONING_DELTA = { type: "reasoning-delta", index: 0, text: "a" };
const TOOL_DELTA = {
  type: "tool-call-delta",
  index: 0,
  id: "c1",
  name: "bash",
  argumentsDelta: "{",
};
const RETRY = {
  retryId: "r1",
  ...STEP,
  provider: "example-ai",
  mode: "normal",
  policyKey: "default",
  retry: 1,
  maxRetries: 5,
  delayMs: 500,
  failure: { message: "overloaded", code: "SERVER" },
};
const TITLE = {
  title: "A title",
  messageSeqs: [3],
  source: { kind: "fallback" },
};
const DESCRIPTOR = { version: 2, mode: "one-shot", provider: "spawn" };

/** Data of each type with all that is checked in it. */
const GOOD: Readonly<Record<KnownType, JsonValue>> = {
  "turn/start": { turn: 1 },
  "turn/end": { turn: 1, reason: { kind: "completed" } },
  "step/start": STEP,
  "step/end": STEP,
  "session/end-seed": {},
  "user/message": USER,
  "assistant/message": { ...STEP, message: USER, usage: {}, interrupted: true },
  "tool/result": {
    ...STEP,
    message: USER,
    error: { name: "ToolError", code: "ABORTED" },
    meta: null,
  },
  "assistant/chunk": { ...STEP, chunk: TEXT_DELTA },
  "tool/call": { ...STEP, callId: "c1", name: "bash", arguments: "{" },
  "tool/code-dispatch-start": DISPATCH,
  "tool/code-dispatch": { ...DISPATCH, isError: false, content: [BLOCK] },
  "todo/write": { todos: [{ content: "Test it", status: "pending" }] },
  "request/header": { header: { config: ROUTE }, reason: "initial" },
  "request/context": { ...ROUTE, contextWindow: 200_000 },
  "llm/retry": RETRY,
  "llm/retry-started": { retryId: "r1", ...STEP, retry: 1 },
  "web/deepseek-search-llm-request": {
    endpoint: "https://example.com/search",
    apiVersion: "1",
    body: {},
  },
  "session/title-llm-request": {
    titleProvider: "titles",
    messageSeqs: SEQS,
    route: ROUTE,
    system: "Name it.",
    messages: [],
    maxTokens: 64,
  },
  "compaction/start": { compactionId: "k1", sourceCommandId: "s1", turn: 1 },
  "compaction/summary": {
    compactionId: "k1",
    sourceCommandId: "s1",
    summary: [BLOCK],
    ...SHADOWED,
    ...ROUTE,
    maxTokens: 8192,
  },
  "compaction/end": { compactionId: "k1", sourceCommandId: "s1", turn: null },
  "compaction/prune": SHADOWED,
  "session/title": TITLE,
  "approval/asked": { id: "a1", toolName: "bash", callId: "c1", reason: "why" },
  "approval/decided": { id: "a1", outcome: "allowed-once" },
  "approval/policy": { policy: "never", source: "delegation" },
  "sandbox/mode": { mode: "read-only", source: "delegation" },
  "permission/preset": { preset: "careful" },
  "plan/mode": { active: true },
  "agent-preset/selected": { agentPreset: "coder" },
  "command/run": {
    commandId: "s1",
    name: "plan",
    args: "now",
    source: { kind: "user" },
  },
  "command/done": {
    commandId: "s1",
    kind: "success",
    text: "done",
    sourceEventSeq: 4,
  },
  "feedback/record": { text: "good" },
  "agent/inbox/spliced": {
    target: "next-turn",
    start: 0,
    removedCount: 1,
    inserted: [USER],
    outcome: "canceled",
  },
  "goal/change": SNAPSHOT,
  "hook/invoked": {
    turn: 1,
    point: "PreToolUse",
    dialect: "codex",
    matcher: "bash",
    handlerId: "h1",
  },
  "hook/result": {
    turn: 1,
    point: "PreToolUse",
    handlerId: "h1",
    decision: "pass",
    exitCode: 0,
    stderrSummary: "",
    durationMs: 1.5,
  },
  "schedule/change": { version: 1 },
  "subagent/descriptor": { ...DESCRIPTOR, label: "find" },
  "team/member": {},
  "team/task": {},
  "team/message/queued": {},
  "team/message/delivered": {},
  "tool-workflow/run-start": { runId: "w1", name: "flow" },
  "tool-workflow/agent-start": {
    runId: "w1",
    seq: 1,
    label: "child",
    phase: "one",
    childId: "s2",
  },
  "tool-workflow/agent-end": { runId: "w1", seq: 1, outcome: "completed" },
  "tool-workflow/run-end": { runId: "w1", stopReason: "completed" },
};

const KNOWN = Object.entries(GOOD);

type Patch = Readonly<Record<string, unknown>>;

/** Good data of the type with other values; undefined takes a key away. */
function patched(type: KnownType, patch: Patch): JsonValue {
  const base = GOOD[type];
  return parseJson(
    JSON.stringify({ ...(isJsonObject(base) ? base : {}), ...patch }),
  );
}

function violation(type: string, data: JsonValue): RuleViolation | null {
  try {
    checkData(type, data);
    return null;
  } catch (error) {
    if (error instanceof RuleViolation) return error;
    throw error;
  }
}

/** What is wrong with these events; empty when nothing is. */
function violations(events: readonly EventLike[]): string[] {
  return events.flatMap(({ type, seq, data }) => {
    const found = violation(type, parseJson(JSON.stringify(data)));
    return found === null ? [] : [`${seq} ${type}: ${found.message}`];
  });
}

const ORDINAL = "must be an integer of at least 1";
const COUNT = "must be a non-negative safe integer";
const TEXT = "must be a string";
const NUMBER = "must be a number";
const OBJECT = "must be an object";
const ARRAY = "must be an array";
const PRESENT = "must be present";
const ABSENT = "must be absent";

/** The same key broken in several types. */
function each(
  types: readonly KnownType[],
  patch: Patch,
  path: string,
  reason: string,
): [KnownType, Patch, string, string][] {
  return types.map((type) => [type, patch, path, reason]);
}

const chunk = (fields: Patch): Patch => ({ chunk: fields });

describe("the schemas", () => {
  it("are there for the 48 types this version knows", () => {
    const types = Object.keys(eventSchemas);

    expect(types).toHaveLength(48);
    expect(types.filter((type) => !isKnownType(type))).toEqual([]);
  });

  it("give the data of each type a TypeScript type", () => {
    expectTypeOf<EventData<"turn/start">["turn"]>().toEqualTypeOf<number>();
    expectTypeOf<EventData<"assistant/message">["interrupted"]>().toEqualTypeOf<
      true | undefined
    >();
    expectTypeOf<
      Extract<
        EventData<"assistant/chunk">["chunk"],
        { type: string; argumentsDelta: string }
      >["id"]
    >().toEqualTypeOf<string>();
    expectTypeOf<EventData<"approval/decided">["outcome"]>().toEqualTypeOf<
      "allowed-once" | "rejected" | "cancelled" | "unavailable"
    >();
  });

  it("are what docs/event-types.md says", () => {
    const script = join(ROOT, "scripts", "generate-event-types.ts");
    const run = spawnSync(
      process.execPath,
      ["--import", "tsx", script, "--check"],
      { cwd: ROOT, encoding: "utf8" },
    );

    expect(run.stderr).toBe("");
    expect(run.status).toBe(0);
  });
});

describe("data passes", () => {
  it.each(KNOWN)("of %s, with all that is checked in it", (type, data) => {
    expect(violation(type, data)).toBeNull();
  });

  it("in every event of the examples", () => {
    const events = exampleFiles().flatMap((file) => readLog(file).events);

    expect(events.length).toBeGreaterThan(0);
    expect(violations(events)).toEqual([]);
  });

  it("in every event of generated logs that break no rule", () => {
    fc.assert(
      fc.property(legalLog(), ({ events }) => {
        expect(violations(events)).toEqual([]);
      }),
      { numRuns: runs(300) },
    );
  });

  it("in every event of recorded sessions", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    const files = [...corpusFiles("A"), ...convertedFiles()];
    const found = files.flatMap((file) => violations(readLog(file).events));

    expect(files.length).toBeGreaterThan(50);
    expect(found).toEqual([]);
  });

  it.each(
    KNOWN.filter(([type]) => type !== "turn/end" && type !== "goal/change"),
  )("of %s with keys nobody knows", (type, data) => {
    const known = isJsonObject(data) ? data : {};
    const more = parseJson(
      '{"constructor":1,"__proto__":null,"toString":[],"x y":{"":null}}',
    );

    expect(
      violation(type, { ...known, ...(isJsonObject(more) ? more : {}) }),
    ).toBeNull();
  });

  it.each<[what: string, type: KnownType, patch: Patch]>([
    [
      "an end of an unknown kind",
      "turn/end",
      { reason: { kind: "later", x: 1 } },
    ],
    [
      "an end that holds garbage",
      "turn/end",
      { reason: { kind: "error", error: 1 } },
    ],
    [
      "a message of an unknown source",
      "user/message",
      { source: { kind: "later" } },
    ],
    [
      "a message of an unknown form",
      "user/message",
      { source: { kind: "plugin", form: 7 } },
    ],
    [
      "unknown blocks",
      "user/message",
      { content: [{ type: "later" }, null, 3] },
    ],
    [
      "a chunk of an unknown type",
      "assistant/chunk",
      chunk({ type: "later", index: "x" }),
    ],
    [
      "a chunk whose type is a name of Object",
      "assistant/chunk",
      chunk({ type: "constructor" }),
    ],
    [
      "a block of an unknown type",
      "assistant/chunk",
      chunk({ type: "block-end", index: 0, block: { type: "later" } }),
    ],
    [
      "an unknown finish",
      "assistant/chunk",
      chunk({ type: "finish", reason: { kind: "later" } }),
    ],
    ["an odd index", "assistant/chunk", chunk({ ...TEXT_DELTA, index: -1.5 })],
    [
      "a delta with an unknown key",
      "assistant/chunk",
      chunk({ ...TEXT_DELTA, trace: 1 }),
    ],
    [
      "a delta without text in it",
      "assistant/chunk",
      chunk({ ...TEXT_DELTA, text: "" }),
    ],
    [
      "a tool delta without a name",
      "assistant/chunk",
      chunk({ ...TOOL_DELTA, name: undefined }),
    ],
    ["no turn that is too high", "turn/start", { turn: 2 ** 60 }],
    ["no contextWindow", "request/context", { contextWindow: undefined }],
    [
      "a contextWindow beyond all counts",
      "request/context",
      { contextWindow: 1e300 },
    ],
    [
      "any system, tools and temperature",
      "request/header",
      {
        header: {
          config: { ...ROUTE, temperature: "hot", maxTokens: null, stop: 1 },
          system: 5,
          tools: "{{tools}}",
        },
      },
    ],
    ["meta of any kind", "tool/result", { meta: [null] }],
    ["arguments of any kind", "tool/code-dispatch", { arguments: null }],
    ["an error of any kind", "compaction/end", { error: 17 }],
    [
      "another mode without a limit",
      "llm/retry",
      { mode: "always", maxRetries: undefined },
    ],
    ["mode normal without a limit", "llm/retry", { maxRetries: undefined }],
    ["the shortest delay", "llm/retry", { delayMs: 0 }],
    ["the longest delay", "llm/retry", { delayMs: 2_147_483_647 }],
    ["a delay with jitter", "llm/retry", { delayMs: 512.25 }],
    ["no todos", "todo/write", { todos: [] }],
    [
      "a title of a person",
      "session/title",
      { messageSeqs: [], source: { kind: "user" } },
    ],
    [
      "a title of a provider",
      "session/title",
      { source: { kind: "provider", provider: "titles", model: ROUTE } },
    ],
    ["an unknown dialect", "hook/invoked", { dialect: "later" }],
    [
      "a command of another source",
      "command/run",
      { source: { kind: "plugin" } },
    ],
    [
      "no seq of the session as workflow seq",
      "tool-workflow/agent-end",
      { seq: 9_999 },
    ],
    [
      "a descriptor of another version",
      "subagent/descriptor",
      { version: 3, mode: 1, provider: null },
    ],
    [
      "a descriptor without version",
      "subagent/descriptor",
      { version: undefined, mode: undefined },
    ],
    [
      "a descriptor with a persona",
      "subagent/descriptor",
      { mode: "continuable", persona: {} },
    ],
    [
      "a cleared goal",
      "goal/change",
      {
        ...CLEAR,
        goal: undefined,
        roundsStarted: undefined,
        createdAt: undefined,
        updatedAt: undefined,
      },
    ],
    [
      "a blocked goal",
      "goal/change",
      {
        operation: "block",
        goal: {
          ...GOAL,
          phase: "blocked",
          blockedReason: { code: "no-key", message: "No key." },
        },
      },
    ],
  ])("with %s", (_what, type, patch) => {
    expect(violation(type, patched(type, patch))).toBeNull();
  });

  it.each([
    null,
    "many",
    -5,
    [],
    {},
    { inputTokens: null, outputTokens: -1 },
    { inputTokens: 0.5, outputTokens: 1e300 },
    { inputTokens: "12", cacheReadTokens: [], reasoningTokens: {} },
  ])("with %j for usage", (usage) => {
    const summary = patched("compaction/summary", { usage });
    const message = patched("assistant/message", { usage });
    const streamed = patched(
      "assistant/chunk",
      chunk({ type: "usage", usage }),
    );

    expect(violation("compaction/summary", summary)).toBeNull();
    expect(violation("assistant/message", message)).toBeNull();
    expect(violation("assistant/chunk", streamed)).toBeNull();
  });

  it.each([null, 1, "x", [], {}])("with %j for a type nobody knows", (data) => {
    expect(violation("x/plugin", data)).toBeNull();
    expect(violation("constructor", data)).toBeNull();
  });

  it("however deep it is nested", () => {
    const meta = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
    const data = parseJson(`{"turn":1,"step":1,"message":{},"meta":${meta}}`);

    expect(violation("tool/result", data)).toBeNull();
  });
});

describe("data is refused", () => {
  it.each(KNOWN.map(([type]) => type))("of %s when it is no object", (type) => {
    for (const data of [null, true, 1, "x", []])
      expect(violation(type, data)).toMatchObject({
        rule: "data-shape",
        path: "data",
        reason: OBJECT,
      });
  });

  it.each<[type: KnownType, patch: Patch, path: string, reason: string]>([
    ...each(
      [
        "turn/start",
        "turn/end",
        "step/start",
        "step/end",
        "assistant/chunk",
        "assistant/message",
        "tool/call",
        "tool/result",
        "llm/retry",
        "llm/retry-started",
        "hook/invoked",
        "hook/result",
        "compaction/start",
        "compaction/end",
      ],
      { turn: 0 },
      "data.turn",
      ORDINAL,
    ),
    ...each(
      [
        "step/start",
        "step/end",
        "assistant/chunk",
        "assistant/message",
        "tool/call",
        "tool/result",
        "llm/retry",
        "llm/retry-started",
      ],
      { step: 1.5 },
      "data.step",
      ORDINAL,
    ),
    ["turn/start", { turn: undefined }, "data.turn", NUMBER],
    ["turn/start", { turn: "1" }, "data.turn", NUMBER],
    ["turn/start", { turn: -1 }, "data.turn", ORDINAL],
    ["compaction/start", { turn: undefined }, "data.turn", NUMBER],
    ["turn/end", { reason: undefined }, "data.reason", OBJECT],
    ["turn/end", { reason: {} }, "data.reason.kind", TEXT],
    ["turn/end", { step: 1 }, "data.step", ABSENT],
    ["assistant/message", { message: [] }, "data.message", OBJECT],
    [
      "assistant/message",
      { interrupted: false },
      "data.interrupted",
      "must be true",
    ],
    ["tool/result", { message: undefined }, "data.message", OBJECT],
    ["tool/result", { error: null }, "data.error", OBJECT],
    ["tool/result", { error: { code: "X" } }, "data.error.name", TEXT],
    ["tool/result", { error: { name: "X", code: 1 } }, "data.error.code", TEXT],
    ["assistant/chunk", chunk({}), "data.chunk.type", TEXT],
    ["assistant/chunk", { chunk: null }, "data.chunk", OBJECT],
    ["assistant/chunk", { chunk: undefined }, "data.chunk", OBJECT],
    [
      "assistant/chunk",
      chunk({ type: "block-start", blockType: "text" }),
      "data.chunk.index",
      NUMBER,
    ],
    [
      "assistant/chunk",
      chunk({ type: "block-start", index: 0 }),
      "data.chunk.blockType",
      TEXT,
    ],
    [
      "assistant/chunk",
      chunk({ ...TEXT_DELTA, index: "0" }),
      "data.chunk.index",
      NUMBER,
    ],
    [
      "assistant/chunk",
      chunk({ ...TEXT_DELTA, text: 1 }),
      "data.chunk.text",
      TEXT,
    ],
    [
      "assistant/chunk",
      chunk({ ...REASONING_DELTA, index: null }),
      "data.chunk.index",
      NUMBER,
    ],
    [
      "assistant/chunk",
      chunk({ ...REASONING_DELTA, text: null }),
      "data.chunk.text",
      TEXT,
    ],
    [
      "assistant/chunk",
      chunk({ ...TOOL_DELTA, index: undefined }),
      "data.chunk.index",
      NUMBER,
    ],
    [
      "assistant/chunk",
      chunk({ ...TOOL_DELTA, id: undefined }),
      "data.chunk.id",
      TEXT,
    ],
    [
      "assistant/chunk",
      chunk({ ...TOOL_DELTA, name: null }),
      "data.chunk.name",
      TEXT,
    ],
    [
      "assistant/chunk",
      chunk({ ...TOOL_DELTA, argumentsDelta: {} }),
      "data.chunk.argumentsDelta",
      TEXT,
    ],
    [
      "assistant/chunk",
      chunk({ type: "block-end", block: BLOCK }),
      "data.chunk.index",
      NUMBER,
    ],
    [
      "assistant/chunk",
      chunk({ type: "block-end", index: 0 }),
      "data.chunk.block",
      OBJECT,
    ],
    [
      "assistant/chunk",
      chunk({ type: "block-end", index: 0, block: {} }),
      "data.chunk.block.type",
      TEXT,
    ],
    ["assistant/chunk", chunk({ type: "finish" }), "data.chunk.reason", OBJECT],
    [
      "assistant/chunk",
      chunk({ type: "finish", reason: {} }),
      "data.chunk.reason.kind",
      TEXT,
    ],
    ["tool/call", { callId: 1 }, "data.callId", TEXT],
    ["tool/call", { name: 1 }, "data.name", TEXT],
    ["tool/call", { arguments: {} }, "data.arguments", TEXT],
    ...each(
      ["tool/code-dispatch", "tool/code-dispatch-start"],
      { rootCallId: 1 },
      "data.rootCallId",
      TEXT,
    ),
    ...each(
      ["tool/code-dispatch", "tool/code-dispatch-start"],
      { parentCallId: 1 },
      "data.parentCallId",
      TEXT,
    ),
    ...each(
      ["tool/code-dispatch", "tool/code-dispatch-start"],
      { subCallId: 1 },
      "data.subCallId",
      TEXT,
    ),
    ...each(
      ["tool/code-dispatch", "tool/code-dispatch-start"],
      { name: 1 },
      "data.name",
      TEXT,
    ),
    ...each(
      ["tool/code-dispatch", "tool/code-dispatch-start"],
      { arguments: undefined },
      "data.arguments",
      PRESENT,
    ),
    [
      "tool/code-dispatch",
      { isError: 1 },
      "data.isError",
      "must be true or false",
    ],
    ["tool/code-dispatch", { content: "x" }, "data.content", ARRAY],
    ["todo/write", { todos: {} }, "data.todos", ARRAY],
    ["todo/write", { todos: [1] }, "data.todos[0]", OBJECT],
    [
      "todo/write",
      { todos: [{ content: " a", status: "pending" }] },
      "data.todos[0].content",
      "must be non-empty, without white space at its ends",
    ],
    [
      "todo/write",
      { todos: [{ content: "", status: "pending" }] },
      "data.todos[0].content",
      "must be non-empty, without white space at its ends",
    ],
    [
      "todo/write",
      { todos: [{ content: "a", status: "done" }] },
      "data.todos[0].status",
      'must be "pending", "in_progress" or "completed"',
    ],
    [
      "todo/write",
      {
        todos: [
          { content: "a", status: "pending" },
          { content: "a", status: "completed" },
        ],
      },
      "data.todos[1].content",
      "must not repeat an earlier item",
    ],
    ["request/header", { header: null }, "data.header", OBJECT],
    [
      "request/header",
      { reason: "later" },
      "data.reason",
      'must be "initial", "resume" or "change"',
    ],
    ["request/context", { provider: null }, "data.provider", TEXT],
    ["request/context", { model: null }, "data.model", TEXT],
    ["request/context", { contextWindow: null }, "data.contextWindow", NUMBER],
    ["llm/retry", { retryId: 1 }, "data.retryId", TEXT],
    ["llm/retry", { provider: 1 }, "data.provider", TEXT],
    [
      "llm/retry",
      { mode: "later" },
      "data.mode",
      'must be "normal" or "always"',
    ],
    ["llm/retry", { policyKey: 1 }, "data.policyKey", TEXT],
    ["llm/retry", { retry: 0 }, "data.retry", ORDINAL],
    ["llm/retry", { maxRetries: null }, "data.maxRetries", NUMBER],
    [
      "llm/retry",
      { mode: "always" },
      "data.maxRetries",
      "must be absent in mode always",
    ],
    [
      "llm/retry",
      { delayMs: -1 },
      "data.delayMs",
      "must be from 0 to 2147483647",
    ],
    [
      "llm/retry",
      { delayMs: 2_147_483_648 },
      "data.delayMs",
      "must be from 0 to 2147483647",
    ],
    ["llm/retry", { failure: "x" }, "data.failure", OBJECT],
    ["llm/retry-started", { retryId: 1 }, "data.retryId", TEXT],
    ["llm/retry-started", { retry: 0 }, "data.retry", ORDINAL],
    ["web/deepseek-search-llm-request", { endpoint: 1 }, "data.endpoint", TEXT],
    [
      "web/deepseek-search-llm-request",
      { apiVersion: 1 },
      "data.apiVersion",
      TEXT,
    ],
    [
      "web/deepseek-search-llm-request",
      { body: undefined },
      "data.body",
      PRESENT,
    ],
    [
      "session/title-llm-request",
      { titleProvider: 1 },
      "data.titleProvider",
      TEXT,
    ],
    [
      "session/title-llm-request",
      { messageSeqs: [-1] },
      "data.messageSeqs[0]",
      COUNT,
    ],
    ["session/title-llm-request", { route: 1 }, "data.route", OBJECT],
    [
      "session/title-llm-request",
      { route: { model: "m" } },
      "data.route.provider",
      TEXT,
    ],
    [
      "session/title-llm-request",
      { route: { provider: "p" } },
      "data.route.model",
      TEXT,
    ],
    ["session/title-llm-request", { system: 1 }, "data.system", TEXT],
    ["session/title-llm-request", { messages: 1 }, "data.messages", ARRAY],
    ["session/title-llm-request", { maxTokens: "1" }, "data.maxTokens", NUMBER],
    ...each(
      ["compaction/start", "compaction/summary", "compaction/end"],
      { compactionId: "" },
      "data.compactionId",
      "must be a non-empty string",
    ),
    ...each(
      ["compaction/start", "compaction/summary", "compaction/end"],
      { sourceCommandId: 1 },
      "data.sourceCommandId",
      TEXT,
    ),
    ["compaction/summary", { summary: "x" }, "data.summary", ARRAY],
    ["compaction/summary", { provider: 1 }, "data.provider", TEXT],
    ["compaction/summary", { model: 1 }, "data.model", TEXT],
    ["compaction/summary", { maxTokens: "1" }, "data.maxTokens", NUMBER],
    ...each(
      ["compaction/summary", "compaction/prune"],
      { shadowedRange: [3, 4] },
      "data.shadowedRange",
      OBJECT,
    ),
    ...each(
      ["compaction/summary", "compaction/prune"],
      { shadowedRange: { start: -1, end: 4 } },
      "data.shadowedRange.start",
      COUNT,
    ),
    ...each(
      ["compaction/summary", "compaction/prune"],
      { shadowedRange: { start: 1, end: 2 ** 53 } },
      "data.shadowedRange.end",
      COUNT,
    ),
    ...each(
      ["compaction/summary", "compaction/prune"],
      { shadowedSeqs: [1, 1.5] },
      "data.shadowedSeqs[1]",
      COUNT,
    ),
    ...each(
      ["compaction/summary", "compaction/prune"],
      { shadowedTokenCount: -1 },
      "data.shadowedTokenCount",
      COUNT,
    ),
    [
      "session/title",
      { title: "" },
      "data.title",
      "must be a non-empty string",
    ],
    ["session/title", { messageSeqs: 3 }, "data.messageSeqs", ARRAY],
    ["session/title", { messageSeqs: [0.5] }, "data.messageSeqs[0]", COUNT],
    [
      "session/title",
      { messageSeqs: [] },
      "data.messageSeqs",
      "must hold a seq unless a person gave it",
    ],
    [
      "session/title",
      { source: { kind: "user" } },
      "data.messageSeqs",
      "must be empty when a person gave it",
    ],
    [
      "session/title",
      { source: { kind: "later" } },
      "data.source.kind",
      'must be "fallback", "provider" or "user"',
    ],
    ["session/title", { source: "user" }, "data.source", OBJECT],
    [
      "session/title",
      { source: { kind: "provider" } },
      "data.source.provider",
      TEXT,
    ],
    [
      "session/title",
      { source: { kind: "provider", provider: "p", model: 1 } },
      "data.source.model",
      OBJECT,
    ],
    [
      "session/title",
      { source: { kind: "provider", provider: "p", model: { model: "m" } } },
      "data.source.model.provider",
      TEXT,
    ],
    [
      "session/title",
      { source: { kind: "provider", provider: "p", model: { provider: "p" } } },
      "data.source.model.model",
      TEXT,
    ],
    ["approval/asked", { id: 1 }, "data.id", TEXT],
    ["approval/asked", { toolName: 1 }, "data.toolName", TEXT],
    ["approval/asked", { callId: 1 }, "data.callId", TEXT],
    ["approval/asked", { reason: 1 }, "data.reason", TEXT],
    ["approval/decided", { id: 1 }, "data.id", TEXT],
    [
      "approval/decided",
      { outcome: "allowed" },
      "data.outcome",
      'must be "allowed-once", "rejected", "cancelled" or "unavailable"',
    ],
    [
      "approval/policy",
      { policy: "always" },
      "data.policy",
      'must be "ask" or "never"',
    ],
    ["approval/policy", { source: 1 }, "data.source", TEXT],
    [
      "sandbox/mode",
      { mode: "none" },
      "data.mode",
      'must be "read-only", "workspace-write" or "danger-full-access"',
    ],
    ["sandbox/mode", { source: 1 }, "data.source", TEXT],
    ["permission/preset", { preset: 1 }, "data.preset", TEXT],
    ["plan/mode", { active: 1 }, "data.active", "must be true or false"],
    ["agent-preset/selected", { agentPreset: 1 }, "data.agentPreset", TEXT],
    ["command/run", { commandId: 1 }, "data.commandId", TEXT],
    ["command/run", { name: 1 }, "data.name", TEXT],
    ["command/run", { args: [] }, "data.args", TEXT],
    ["command/run", { source: "user" }, "data.source", OBJECT],
    ["command/run", { source: {} }, "data.source.kind", TEXT],
    ["command/done", { commandId: 1 }, "data.commandId", TEXT],
    [
      "command/done",
      { kind: "failed" },
      "data.kind",
      'must be "success" or "error"',
    ],
    ["command/done", { text: 1 }, "data.text", TEXT],
    ["command/done", { sourceEventSeq: -1 }, "data.sourceEventSeq", COUNT],
    ["feedback/record", { text: 1 }, "data.text", TEXT],
    [
      "agent/inbox/spliced",
      { target: "now" },
      "data.target",
      'must be "next-turn" or "next-step"',
    ],
    ["agent/inbox/spliced", { start: -1 }, "data.start", COUNT],
    ["agent/inbox/spliced", { removedCount: 0.5 }, "data.removedCount", COUNT],
    ["agent/inbox/spliced", { inserted: {} }, "data.inserted", ARRAY],
    ["agent/inbox/spliced", { inserted: ["m"] }, "data.inserted[0]", OBJECT],
    [
      "agent/inbox/spliced",
      { outcome: "claimed" },
      "data.outcome",
      'must be "canceled"',
    ],
    ["goal/change", { kind: "goal" }, "data.kind", 'must be "goal/change"'],
    ["goal/change", { version: 2 }, "data.version", "must be 1"],
    [
      "goal/change",
      { operation: "later" },
      "data.operation",
      'must be "create", "edit", "pause", "resume", "complete", "block" or "clear"',
    ],
    ["goal/change", { goal: null }, "data.goal", OBJECT],
    ["goal/change", { goal: { ...GOAL, id: 1 } }, "data.goal.id", TEXT],
    [
      "goal/change",
      { goal: { ...GOAL, revision: 0 } },
      "data.goal.revision",
      ORDINAL,
    ],
    [
      "goal/change",
      { goal: { ...GOAL, objective: " " } },
      "data.goal.objective",
      "must be non-empty, without white space at its ends",
    ],
    [
      "goal/change",
      { goal: { ...GOAL, phase: "later" } },
      "data.goal.phase",
      'must be "active", "paused", "complete" or "blocked"',
    ],
    [
      "goal/change",
      { goal: { ...GOAL, maxGoalRounds: 0 } },
      "data.goal.maxGoalRounds",
      ORDINAL,
    ],
    ["goal/change", { goal: { ...GOAL, note: 1 } }, "data.goal.note", ABSENT],
    [
      "goal/change",
      { goal: { ...GOAL, blockedReason: { code: "a", message: "b" } } },
      "data.goal.blockedReason",
      ABSENT,
    ],
    [
      "goal/change",
      { goal: { ...GOAL, phase: "blocked" } },
      "data.goal.blockedReason",
      OBJECT,
    ],
    [
      "goal/change",
      {
        goal: {
          ...GOAL,
          phase: "blocked",
          blockedReason: { code: "No Key", message: "b" },
        },
      },
      "data.goal.blockedReason.code",
      "must be lower-case words joined by hyphens",
    ],
    [
      "goal/change",
      {
        goal: {
          ...GOAL,
          phase: "blocked",
          blockedReason: { code: "a", message: "" },
        },
      },
      "data.goal.blockedReason.message",
      "must be non-empty, without white space at its ends",
    ],
    [
      "goal/change",
      {
        goal: {
          ...GOAL,
          phase: "blocked",
          blockedReason: { code: "a", message: "b", x: 1 },
        },
      },
      "data.goal.blockedReason.x",
      ABSENT,
    ],
    ["goal/change", { roundsStarted: -1 }, "data.roundsStarted", COUNT],
    ["goal/change", { createdAt: "5" }, "data.createdAt", NUMBER],
    ["goal/change", { updatedAt: "5" }, "data.updatedAt", NUMBER],
    [
      "goal/change",
      { updatedAt: 4 },
      "data.updatedAt",
      "must not be before data.createdAt",
    ],
    ["goal/change", { note: 1 }, "data.note", ABSENT],
    ["goal/change", { ...CLEAR }, "data.goal", ABSENT],
    [
      "goal/change",
      { ...CLEAR, cleared: { revision: 1 } },
      "data.cleared.id",
      TEXT,
    ],
    [
      "goal/change",
      { ...CLEAR, cleared: { id: "g1", revision: 0 } },
      "data.cleared.revision",
      ORDINAL,
    ],
    [
      "goal/change",
      { ...CLEAR, cleared: { id: "g1", revision: 1, x: 1 } },
      "data.cleared.x",
      ABSENT,
    ],
    ["goal/change", { ...CLEAR, clearedAt: null }, "data.clearedAt", NUMBER],
    ...each(["hook/invoked", "hook/result"], { point: 1 }, "data.point", TEXT),
    ...each(
      ["hook/invoked", "hook/result"],
      { handlerId: 1 },
      "data.handlerId",
      TEXT,
    ),
    ["hook/invoked", { dialect: 1 }, "data.dialect", TEXT],
    ["hook/invoked", { matcher: 1 }, "data.matcher", TEXT],
    ["hook/result", { decision: 1 }, "data.decision", TEXT],
    ["hook/result", { exitCode: "0" }, "data.exitCode", NUMBER],
    ["hook/result", { stderrSummary: 1 }, "data.stderrSummary", TEXT],
    ["hook/result", { durationMs: "1" }, "data.durationMs", NUMBER],
    [
      "subagent/descriptor",
      { mode: "later" },
      "data.mode",
      'must be "one-shot" or "continuable"',
    ],
    ["subagent/descriptor", { provider: 1 }, "data.provider", TEXT],
    ["subagent/descriptor", { label: 1 }, "data.label", TEXT],
    [
      "subagent/descriptor",
      { mode: "continuable", label: undefined },
      "data.label",
      TEXT,
    ],
    ...each(
      [
        "tool-workflow/run-start",
        "tool-workflow/agent-start",
        "tool-workflow/agent-end",
        "tool-workflow/run-end",
      ],
      { runId: 1 },
      "data.runId",
      TEXT,
    ),
    ...each(
      ["tool-workflow/agent-start", "tool-workflow/agent-end"],
      { seq: 0 },
      "data.seq",
      ORDINAL,
    ),
    ["tool-workflow/run-start", { name: 1 }, "data.name", TEXT],
    ["tool-workflow/agent-start", { label: 1 }, "data.label", TEXT],
    ["tool-workflow/agent-start", { phase: 1 }, "data.phase", TEXT],
    ["tool-workflow/agent-start", { childId: 1 }, "data.childId", TEXT],
    [
      "tool-workflow/agent-end",
      { outcome: "done" },
      "data.outcome",
      'must be "completed", "failed" or "cancelled"',
    ],
    [
      "tool-workflow/run-end",
      { stopReason: "done" },
      "data.stopReason",
      'must be "completed", "cancelled" or "error"',
    ],
    ["compaction/summary", { shadowedSeqs: 3 }, "data.shadowedSeqs", ARRAY],
    ["compaction/prune", { shadowedSeqs: 3 }, "data.shadowedSeqs", ARRAY],
    ["goal/change", { ...CLEAR, cleared: "g1" }, "data.cleared", OBJECT],
    [
      "goal/change",
      { goal: { ...GOAL, phase: "blocked", blockedReason: "x" } },
      "data.goal.blockedReason",
      OBJECT,
    ],
  ])("of %s with %j: %s %s", (type, patch, path, reason) => {
    expect(violation(type, patched(type, patch))).toMatchObject({
      rule: "data-shape",
      path,
      reason,
    });
  });

  it("for the first of its problems", () => {
    const data = patched("tool/call", { step: 0, name: 1, arguments: null });

    expect(violation("tool/call", data)?.path).toBe("data.step");
  });
});

describe("a delta", () => {
  it.each([TEXT_DELTA, REASONING_DELTA, TOOL_DELTA])(
    "like %j is accepted without its schema",
    (delta) => {
      expect(isPlainDelta({ ...STEP, chunk: delta })).toBe(true);
    },
  );

  it("that is accepted without its schema is accepted by it, and nothing else in it is", () => {
    let quick = 0;
    fc.assert(
      fc.property(anyChunk, (data) => {
        const isGood = eventSchemas["assistant/chunk"].safeParse(data).success;
        if (isPlainDelta(data)) quick += 1;

        expect(isPlainDelta(data) && !isGood).toBe(false);
        expect(isGood && isKnownDelta(data)).toBe(isPlainDelta(data));
        expect(violation("assistant/chunk", data) === null).toBe(isGood);
      }),
      { numRuns: runs(3_000) },
    );
    expect(quick).toBeGreaterThan(100);
  });
});

/** A value that is mostly right. */
function mostly(right: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  const wrong = fc.constantFrom<JsonValue[]>(
    null,
    0,
    -1,
    1.5,
    1e300,
    "",
    "x",
    true,
    [],
    {},
  );
  return fc.oneof(
    { weight: 12, arbitrary: right },
    { weight: 1, arbitrary: wrong },
  );
}

const number = mostly(fc.constantFrom(1, 2, 7));
const word = mostly(fc.string());

const anyChunk: fc.Arbitrary<JsonValue> = mostly(
  fc.record(
    {
      turn: number,
      step: number,
      chunk: mostly(
        fc.record(
          {
            type: mostly(
              fc.constantFrom(
                "text-delta",
                "reasoning-delta",
                "tool-call-delta",
                "block-start",
                "block-end",
                "usage",
                "finish",
                "later",
              ),
            ),
            index: number,
            text: word,
            id: word,
            name: word,
            argumentsDelta: word,
            blockType: word,
            block: mostly(fc.record({ type: word })),
            reason: mostly(fc.record({ kind: word })),
            usage: number,
            trace: word,
          },
          { requiredKeys: ["type", "index", "text", "argumentsDelta", "id"] },
        ),
      ),
      trace: word,
    },
    { requiredKeys: ["turn", "step", "chunk"] },
  ),
);

function isKnownDelta(data: JsonValue): boolean {
  const inner = isJsonObject(data) ? data["chunk"] : null;
  return (
    isJsonObject(inner) &&
    [TEXT_DELTA, REASONING_DELTA, TOOL_DELTA].some(
      ({ type }) => type === inner["type"],
    )
  );
}
