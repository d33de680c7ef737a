import { describe, expect, it } from "vitest";
import {
  at,
  called,
  context,
  event,
  item,
  meta,
  returned,
  said,
  tokens,
} from "./codex-lines.ts";
import {
  convert,
  expectBeginningsToBePrefixes,
  noteTexts,
  outline,
  refusalOf,
  usages,
  useTranscripts,
} from "./transcripts.ts";

useTranscripts();

const reasoning = {
  summary: [{ type: "summary_text", text: "Look first" }],
  encrypted_content: "x",
};

const session = [
  meta("s1", { base_instructions: { text: "You tend gardens." } }),
  event(1, "task_started", { turn_id: "t1", model_context_window: 272_000 }),
  context(1),
  said(1, "developer", "<permissions instructions>"),
  said(1, "user", "<environment_context>\n<cwd>/srv/garden</cwd>"),
  said(2, "user", "Water the beds"),
  event(2, "user_message", { message: "Water the beds" }),
  event(2, "token_count", { info: null }),
  item(4, "reasoning", reasoning),
  called(5, "c1"),
  tokens(5, [100, 60, 20, 5], [100, 60, 20, 5]),
  returned(6, "c1", "north south"),
  said(8, "assistant", "Both are dry."),
  tokens(8, [250, 160, 30, 5], [150, 100, 10, 0]),
  event(9, "task_complete"),
];

describe("a task of Codex", () => {
  it("becomes a turn with a step for each response", async () => {
    const log = await convert("codex", session);

    expect(outline(log)).toEqual([
      "turn/start",
      "step/start",
      "user/message plugin <permissions instructions>",
      "user/message plugin <environment_context>\n<cwd>/srv/garden</cwd>",
      "user/message user Water the beds",
      "request/header",
      "request/context",
      "assistant/message model Look first c1",
      "tool/call c1",
      "tool/result tool north south",
      "step/end",
      "step/start",
      "assistant/message model Both are dry.",
      "step/end",
      'turn/end {"kind":"completed"}',
    ]);
    expect(log.header).toEqual({
      version: 0,
      id: "s1",
      createdAt: Date.parse(at(0)),
      cwd: "/srv/garden",
      delegationDepth: 0,
    });
    expect(log.events[5]?.event.data).toEqual({
      header: {
        config: {
          provider: "openai",
          model: "gpt-test",
          reasoningEffort: "high",
        },
        system: "You tend gardens.",
      },
      reason: "initial",
    });
    expect(log.events[7]).toMatchObject({
      line: 10,
      event: { data: { message: { id: "codex:s1:9" } } },
    });
    expect(noteTexts(log)).toEqual([
      "1 encrypted contents of reasoning (line 9)",
    ]);
  });

  it("counts for each response what it adds to the total, cached tokens apart from input (B051)", async () => {
    const log = await convert("codex", session);

    expect(usages(log)).toEqual([
      {
        inputTokens: 40,
        outputTokens: 20,
        cacheReadTokens: 60,
        reasoningTokens: 5,
      },
      {
        inputTokens: 50,
        outputTokens: 10,
        cacheReadTokens: 100,
        reasoningTokens: 0,
      },
    ]);
  });

  it("counts cached tokens once: 219,921 of which 170,496 cached (B051)", async () => {
    const log = await convert("codex", [
      meta("s1"),
      tokens(1, [219_921, 170_496, 3_562, 0]),
    ]);

    expect(usages(log)).toEqual([
      {
        inputTokens: 49_425,
        cacheReadTokens: 170_496,
        outputTokens: 3_562,
        reasoningTokens: 0,
      },
    ]);
  });

  it("names the model that a turn has, and not that of the next", async () => {
    const log = await convert("codex", [
      ...session.slice(0, -1),
      context(10, { model: "gpt-next" }),
      said(11, "user", "Once more"),
      said(12, "assistant", "Done."),
      tokens(12, [300, 160, 40, 5]),
    ]);

    const models = log.events
      .filter((placed) => placed.event.type === "assistant/message")
      .map((placed) => placed.event.data);
    expect(models).toMatchObject([
      { message: { source: { model: "gpt-test" } } },
      { message: { source: { model: "gpt-test" } } },
      { message: { source: { model: "gpt-next" } } },
    ]);
  });

  it("keeps a step open for results behind an input that comes among them", async () => {
    const log = await convert("codex", [
      meta("s1"),
      said(1, "user", "Go"),
      called(2, "c1"),
      called(2, "c2"),
      tokens(2, [10, 0, 1, 0]),
      returned(3, "c1", "one"),
      said(4, "developer", "Mind the hose"),
      returned(5, "c2", "two"),
    ]);

    expect(outline(log).slice(-3)).toEqual([
      "tool/result tool one",
      "user/message plugin Mind the hose",
      "tool/result tool two",
    ]);
  });

  it("takes a report that comes behind the results of the calls as their response's", async () => {
    const log = await convert("codex", [
      meta("s1"),
      said(1, "user", "Go"),
      called(2, "c1"),
      returned(3, "c1", { content: "no", success: false }),
      tokens(4, [10, 0, 1, 0]),
    ]);

    expect(usages(log)).toHaveLength(1);
    expect(log.events.at(-1)?.event.data).toMatchObject({
      message: { content: [{ isError: true }] },
    });
  });

  it("is steered by what the person says while it runs", async () => {
    const log = await convert("codex", [
      ...session.slice(0, -1),
      said(9, "user", "And the roof?"),
      said(10, "assistant", "No beds there."),
      event(11, "task_complete"),
    ]);

    expect(outline(log).filter((each) => each === "turn/start")).toHaveLength(
      1,
    );
  });

  it.each([
    [
      "turn_aborted",
      { reason: "interrupted" },
      { kind: "aborted", reason: { kind: "user" } },
    ],
    [
      "turn_aborted",
      { reason: "replaced" },
      { kind: "aborted", reason: { kind: "legacy" } },
    ],
  ])("ends as %s %j says", async (type, facts, reason) => {
    const log = await convert("codex", [
      meta("s1"),
      said(1, "user", "Go"),
      event(2, type, facts),
    ]);

    expect(log.events.at(-1)?.event.data).toEqual({ turn: 1, reason });
  });

  it("ends with the error before its end", async () => {
    const log = await convert("codex", [
      meta("s1"),
      said(1, "user", "Go"),
      event(2, "error", { message: "quota" }),
      event(3, "task_complete"),
    ]);

    expect(outline(log).at(-1)).toBe(
      'turn/end {"kind":"error","error":{"message":"quota","code":"UNKNOWN"}}',
    );
  });
});

/** A session of reports alone. */
const countsOf = async (...reports: readonly object[]) =>
  await convert("codex", [meta("s1"), ...reports]);

describe("a counter of tokens", () => {
  it("counts nothing where a report repeats the total, whatever it says of the last request (G5 #64)", async () => {
    const log = await countsOf(
      tokens(1, [10, 0, 1, 0]),
      tokens(2, [10, 0, 1, 0], [9, 0, 9, 0]),
    );

    expect(usages(log)).toHaveLength(1);
    expect(log.notes).toEqual([]);
  });

  it("that goes back counts its last request, and says so", async () => {
    const log = await countsOf(
      tokens(1, [1_000, 0, 100, 0]),
      tokens(2, [50, 20, 5, 0], [30, 10, 3, 0]),
      tokens(3, [70, 20, 6, 0], [20, 0, 1, 0]),
    );

    expect(usages(log).slice(1)).toEqual([
      {
        inputTokens: 20,
        cacheReadTokens: 10,
        outputTokens: 3,
        reasoningTokens: 0,
      },
      {
        inputTokens: 20,
        cacheReadTokens: 0,
        outputTokens: 1,
        reasoningTokens: 0,
      },
    ]);
    expect(noteTexts(log)).toEqual([
      "1 token counters that went back: the report counts its last request alone (line 3)",
    ]);
  });

  it("with more cached than input counts nothing, and never a negative number (B052)", async () => {
    const log = await countsOf(tokens(1, [100, 112, 7, 0]));

    expect(usages(log)).toEqual([]);
    expect(noteTexts(log)).toEqual([
      "1 token reports with more cached input than input, left out (line 2)",
    ]);
  });

  it("with a count that is none is passed over, and says so", async () => {
    const log = await countsOf(
      event(1, "token_count", {
        info: { total_token_usage: { input_tokens: -5 } },
      }),
      tokens(2, [10, 0, 1, 9]),
    );

    expect(usages(log)).toEqual([
      { inputTokens: 10, cacheReadTokens: 0, outputTokens: 1 },
    ]);
    expect(noteTexts(log)).toEqual([
      "1 token reports without a total that can be read (line 2)",
      "1 token reports with more reasoning than output: reasoning is left out (line 3)",
    ]);
  });

  it("keeps cache writes in a bucket of their own", async () => {
    const total = {
      input_tokens: 100,
      cached_input_tokens: 60,
      cache_write_input_tokens: 30,
      output_tokens: 5,
    };
    const log = await countsOf(
      event(1, "token_count", { info: { total_token_usage: total } }),
    );

    expect(usages(log)).toEqual([
      {
        inputTokens: 10,
        cacheReadTokens: 60,
        cacheWriteTokens: 30,
        outputTokens: 5,
        reasoningTokens: 0,
      },
    ]);
  });
});

describe("a rollout that grows", () => {
  it("gives the same log with more behind it", async () => {
    await expectBeginningsToBePrefixes("codex", [
      ...session,
      event(20, "task_started", { turn_id: "t2" }),
      said(20, "user", "And now?"),
      called(21, "c2"),
      called(21, "c3"),
      tokens(22, [300, 160, 35, 5]),
      returned(23, "c2", "a"),
      returned(23, "c3", "b"),
      tokens(24, [300, 160, 35, 5]),
      said(25, "assistant", "Rest."),
      tokens(26, [400, 160, 36, 5]),
      event(27, "turn_aborted", { reason: "interrupted" }),
    ]);
  });

  it("holds a response back that has no report yet", async () => {
    const log = await convert("codex", session.slice(0, -2));

    expect(outline(log).at(-1)).toBe("tool/result tool north south");
    expect(noteTexts(log)).toContain(
      "1 last answers held back, since they may not be over (line 13)",
    );
  });

  it("of a version that writes no events is taken as it is", async () => {
    const log = await convert("codex", [
      meta("s1"),
      said(1, "user", "Hi"),
      said(2, "assistant", "Ho"),
    ]);

    expect(outline(log).at(-1)).toBe("assistant/message model Ho");
  });
});

/** A UUID of version 7 made at that time. */
const v7 = (time: number, tail: string): string => {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${tail.padStart(12, "0")}`;
};

/** A turn of the fork itself. */
const own = (second: number, turnId: string): object[] => [
  event(second, "task_started", { turn_id: turnId }),
  said(second, "user", "And the roof?"),
  said(second + 1, "assistant", "No."),
  tokens(second + 1, [130, 80, 25, 5], [30, 20, 5, 0]),
];

describe("a fork of Codex", () => {
  const forkedAt = Date.parse(at(100));
  const parent = (second: number): object[] => [
    meta("trunk", {}, second),
    event(second, "task_started", { turn_id: v7(forkedAt - 90_000, "1") }),
    context(second, { turn_id: v7(forkedAt - 90_000, "1") }),
    said(second, "user", "Water the beds"),
    said(second, "assistant", "Dry."),
    tokens(second, [100, 60, 20, 5], [100, 60, 20, 5]),
    event(second, "task_complete"),
  ];
  const ownUsage = {
    inputTokens: 10,
    cacheReadTokens: 20,
    outputTokens: 5,
    reasoningTokens: 0,
  };

  it("is its own from the first turn whose id is younger than itself, whatever the times say (B054)", async () => {
    const child = meta(v7(forkedAt, "9"), { forked_from_id: "trunk" }, 100);
    const log = await convert("codex", [
      child,
      ...parent(100),
      ...own(100, v7(forkedAt + 40, "2")),
    ]);
    const seedLength = log.header.seedLength ?? 0;

    expect(log.header).toMatchObject({
      id: v7(forkedAt, "9"),
      parentSession: "trunk",
    });
    expect(outline(log).slice(seedLength - 1, seedLength + 4)).toEqual([
      'turn/end {"kind":"completed"}',
      "session/end-seed",
      "turn/start",
      "step/start",
      "user/message user And the roof?",
    ]);
    expect(usages(log)[1]).toEqual(ownUsage);
    expect(noteTexts(log)).toContain(
      `${seedLength} inherited events, up to the first turn whose id is younger than the fork (line 9)`,
    );
  });

  it("is its own from its header on where that is repeated and turns have other ids", async () => {
    const child = meta("leaf", { forked_from_id: "trunk" }, 100);
    const copy = [
      said(100, "user", "Water the beds"),
      said(100, "assistant", "Dry."),
    ];
    const log = await convert("codex", [
      child,
      ...copy,
      meta("leaf", {}, 100),
      said(100, "user", "Own"),
    ]);

    expect(log.header.seedLength).toBe(7);
    expect(noteTexts(log)).toContain(
      "7 inherited events, up to the fork's header, repeated (line 4)",
    );
  });

  it("is inherited as a whole while it has no turn of its own, and closed", async () => {
    const child = meta(v7(forkedAt, "9"), { forked_from_id: "trunk" }, 100);
    const open = parent(100).slice(0, -1);
    const log = await convert("codex", [child, ...open]);
    const later = await convert("codex", [
      child,
      ...open,
      ...own(150, v7(forkedAt + 50_000, "2")),
    ]);

    expect(outline(log).slice(-2)).toEqual([
      'turn/end {"kind":"completed"}',
      "session/end-seed",
    ]);
    expect(later.header).toEqual(log.header);
    expect(outline(later).slice(0, log.events.length)).toEqual(outline(log));
  });

  it("whose copy has no reports counts its own requests alone", async () => {
    const child = meta("leaf", { forked_from_id: "trunk" }, 100);
    const log = await convert("codex", [
      child,
      said(100, "user", "Water the beds"),
      said(150, "user", "And the roof?"),
      said(151, "assistant", "No."),
      tokens(151, [130, 80, 25, 5], [30, 20, 5, 0]),
    ]);

    expect(usages(log)).toEqual([ownUsage]);
    expect(noteTexts(log).join()).toContain(
      "token counters that began before the transcript",
    );
  });

  it("by a sub-agent says how deep it is", async () => {
    const source = {
      subagent: { thread_spawn: { parent_thread_id: "boss", depth: 2 } },
    };
    const log = await convert("codex", [
      meta("s1", { source }),
      said(1, "user", "Dig"),
    ]);

    expect(log.header).toMatchObject({
      parentSession: "boss",
      origin: "subagent",
      delegationDepth: 2,
    });
    expect(log.header.seedLength).toBeUndefined();
  });
});

describe("what a log of ours can't hold of Codex", () => {
  it("is counted by kind", async () => {
    const log = await convert("codex", [
      meta("s1"),
      item(1, "message", {
        role: "user",
        content: [
          { type: "input_image", image_url: "data:image/png;base64,AA==" },
        ],
      }),
      item(1, "ghost_snapshot", {}),
      item(2, "web_search_call", { action: { query: "moss" } }),
      returned(2, "c9", "lost"),
      event(3, "exec_command_end"),
      { timestamp: at(3), type: "compacted", payload: { message: "All" } },
      { timestamp: at(4), type: "world_state", payload: {} },
      { timestamp: at(4), type: "odd" },
    ]);

    expect(outline(log)[2]).toBe("user/message user [image: image/png]");
    expect(noteTexts(log)).toEqual([
      "1 images, of which the bytes are not kept (line 2)",
      "1 response items of type ghost_snapshot (line 3)",
      "1 events of type exec_command_end (line 6)",
      "1 tool results without a call in their step (line 5)",
      "1 compactions that can't be expressed: all messages stay (line 7)",
      "1 lines of type world_state (line 8)",
      "1 lines of type odd without a payload (line 9)",
    ]);
  });

  it("is refused where turns were taken back, and where the file is none of Codex", async () => {
    const rolledBack = await refusalOf("codex", [
      ...session,
      event(10, "thread_rolled_back", { num_turns: 1 }),
    ]);
    const other = await refusalOf("codex", [{ type: "session", id: "x" }]);

    expect(rolledBack).toMatchObject({ line: 16 });
    expect(rolledBack.reason).toContain("several branches");
    expect(other).toMatchObject({ line: 1 });
    expect(other.reason).toContain("no header of Codex");
  });
});
