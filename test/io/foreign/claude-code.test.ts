import { describe, expect, it } from "vitest";
import { answer, at, call, line, result, text, user } from "./claude-lines.ts";
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

const partial = { input_tokens: 10, output_tokens: 2 };
const whole = {
  input_tokens: 10,
  output_tokens: 40,
  cache_read_input_tokens: 500,
  cache_creation_input_tokens: 70,
};

/** A prompt, an answer in three lines with a call, its result, and the last answer. */
const turn = [
  user(1, "Water the beds"),
  answer(
    2,
    "msg_1",
    { type: "thinking", thinking: "Which?", signature: "s" },
    null,
    partial,
  ),
  answer(3, "msg_1", text("I look first."), null, partial),
  answer(4, "msg_1", call("c1", { command: "ls beds" }), "tool_use", whole),
  result(6, "c1", "north south", { toolUseResult: { stdout: "north south" } }),
  answer(9, "msg_2", text("Both are dry."), "end_turn", whole),
];

describe("a turn of Claude Code", () => {
  it("becomes a turn with a step for each answer, its lines put together", async () => {
    const log = await convert("claude-code", turn);

    expect(outline(log)).toEqual([
      "turn/start",
      "step/start",
      "user/message user Water the beds",
      "request/header",
      "assistant/message model Which? I look first. c1",
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
      id: "0b0e3c9e-6f8e-4b62-a0de-000000000001",
      createdAt: Date.parse(at(1)),
      cwd: "/srv/garden",
      delegationDepth: 0,
    });
    expect(log.events[4]).toMatchObject({
      line: 2,
      event: { time: Date.parse(at(4)) },
    });
    expect(log.events[6]?.event).toMatchObject({
      sourceEventSeqs: [5],
      data: { meta: { stdout: "north south" } },
    });
    expect(noteTexts(log)).toEqual([
      "1 signatures that providers gave to blocks (line 2)",
    ]);
  });

  it("counts an answer's usage once, as its last line has it (B047, B052)", async () => {
    const log = await convert("claude-code", turn);

    const counted = {
      inputTokens: 10,
      outputTokens: 40,
      cacheReadTokens: 500,
      cacheWriteTokens: 70,
    };
    expect(usages(log)).toEqual([counted, counted]);
  });

  it("counts no report without input or output, and says so", async () => {
    const log = await convert("claude-code", [
      user(1, "Hi"),
      answer(2, "msg_1", text("Ho"), "end_turn", { output_tokens: 3 }),
    ]);

    expect(usages(log)).toEqual([]);
    expect(noteTexts(log)).toEqual([
      "1 usage reports without input or output (line 2)",
    ]);
  });

  it("takes an answer whole whose lines stand among the results of its own calls", async () => {
    const log = await convert("claude-code", [
      user(1, "Two at once"),
      answer(2, "msg_1", call("c1"), null),
      result(3, "c1", "one"),
      answer(4, "msg_1", call("c2"), "tool_use"),
      result(5, "c2", "two"),
    ]);

    expect(outline(log).slice(4)).toEqual([
      "assistant/message model c1 c2",
      "tool/call c1",
      "tool/call c2",
      "tool/result tool one",
      "tool/result tool two",
    ]);
  });

  it("stays open while nothing says that it is over, and ends as its last answer tells when the next begins", async () => {
    const log = await convert("claude-code", [
      user(1, "Old version"),
      answer(2, "msg_1", text("Done."), null),
      user(3, "Next"),
      answer(4, "msg_2", call("c1"), null),
      user(5, "Never mind"),
    ]);

    expect(outline(log).filter((each) => each.startsWith("turn/end"))).toEqual([
      'turn/end {"kind":"completed"}',
      'turn/end {"kind":"interrupted"}',
    ]);
    expect(
      log.events.find(({ event }) => event.type === "turn/end"),
    ).toMatchObject({ line: 3, event: { time: Date.parse(at(2)) } });
  });

  it("ends as cancelled where the person interrupted it", async () => {
    const log = await convert("claude-code", [
      user(1, "Dig"),
      answer(2, "msg_1", text("Digg"), null),
      user(3, [text("[Request interrupted by user]")]),
      user(4, "Stop digging"),
    ]);

    expect(outline(log).slice(5, 8)).toEqual([
      "step/end",
      "step/start",
      "user/message plugin [Request interrupted by user]",
    ]);
    expect(outline(log)).toContain(
      'turn/end {"kind":"aborted","reason":{"kind":"user"}}',
    );
  });

  it("ends with the error that an API error message tells, which is no answer", async () => {
    const log = await convert("claude-code", [
      user(1, "Dig"),
      line("assistant", 2, {
        isApiErrorMessage: true,
        message: {
          id: "x",
          model: "<synthetic>",
          content: [text("API Error: 529")],
        },
      }),
    ]);

    expect(outline(log).slice(3)).toEqual([
      "assistant/chunk",
      "step/end",
      'turn/end {"kind":"error","error":{"message":"API Error: 529","code":"UNKNOWN"}}',
    ]);
  });
});

describe("a transcript of Claude Code that grows", () => {
  it("gives the same log with more behind it, once its first answer is whole", async () => {
    const grown = [
      ...turn,
      user(20, "And now?"),
      answer(21, "msg_3", call("c2"), "tool_use"),
      result(22, "c2", "ok"),
      user(23, "Hook says go on", { isMeta: true }),
      answer(24, "msg_4", text("Rest."), "max_tokens"),
      user(30, "<command-name>/compact</command-name>"),
      line("system", 31, { subtype: "compact_boundary" }),
      user(32, "Summary of all", { isCompactSummary: true }),
      user(33, "Go on"),
      answer(34, "msg_5", text("Yes."), "end_turn"),
    ];

    await expectBeginningsToBePrefixes("claude-code", grown, 4);
  });

  it("holds the last answer back while it has no end, in a transcript where others have one", async () => {
    const open = answer(21, "msg_3", text("Let me"), null);
    const log = await convert("claude-code", [...turn, user(20, "Next"), open]);
    const later = await convert("claude-code", [
      ...turn,
      user(20, "Next"),
      open,
      user(22, "Hurry"),
    ]);

    expect(outline(log).at(-1)).toBe("user/message user Next");
    expect(noteTexts(log)).toContain(
      "1 last answers held back, since they may not be over (line 8)",
    );
    expect(outline(later)).toContain("assistant/message model Let me");
  });
});

describe("what no person typed", () => {
  it.each([
    ["a caveat", "<local-command-caveat>Caveat: The messages below", {}],
    ["a command", "<command-message>init</command-message>", {}],
    [
      "output of a command",
      "<local-command-stdout>ok</local-command-stdout>",
      {},
    ],
    ["a reminder", "<system-reminder>Mind the hose</system-reminder>", {}],
    ["a meta line", "Continue from where you left off.", { isMeta: true }],
    [
      "a notification",
      "A task ended",
      { origin: { kind: "task-notification" } },
    ],
  ])("is no candidate for a title: %s (B066)", async (_what, words, facts) => {
    const log = await convert("claude-code", [user(1, words, facts), ...turn]);

    const sources = outline(log).filter((each) => each.startsWith("user/"));
    expect(sources[0]).toMatch(/^user\/message plugin /);
    expect(sources[1]).toBe("user/message user Water the beds");
    expect(outline(log).filter((each) => each === "turn/start")).toHaveLength(
      1,
    );
  });

  it("leaves a message to the person whose words stand beside a wrapper", async () => {
    const log = await convert("claude-code", [
      user(1, [text("<system-reminder>x</system-reminder>"), text("Rake")]),
    ]);

    expect(outline(log).at(-1)).toMatch(/^user\/message user /);
  });

  it("keeps the title that a person gave", async () => {
    const log = await convert("claude-code", [
      ...turn,
      line("custom-title", 10, { customTitle: " Garden " }),
    ]);

    expect(outline(log).at(-1)).toBe("session/title Garden");
  });
});

describe("a compaction of Claude Code", () => {
  const compacted = [
    ...turn,
    line("system", 31, { subtype: "compact_boundary", compactMetadata: {} }),
    user(32, "Summary of all", { isCompactSummary: true }),
    user(33, "Go on"),
  ];

  it("hides all before it behind its summary", async () => {
    const log = await convert("claude-code", compacted);

    expect(outline(log).slice(12, 16)).toEqual([
      "compaction/start",
      "compaction/summary",
      "user/message plugin Summary of all",
      "compaction/end",
    ]);
    // A quarter of the characters, rounded up by part, and 4 for each message and block: 12 + 29 + 15 + 12.
    expect(log.events[13]?.event.data).toMatchObject({
      shadowedTokenCount: 68,
    });
    expect(log.events[14]?.event).toMatchObject({
      surfaceOp: { op: "replace", start: 2, end: 9 },
      sourceEventSeqs: [12, 13, 2, 4, 6, 9],
    });
  });

  it("is a message like others where some messages were kept, since a range can't say which", async () => {
    const metadata = { preservedSegment: { headUuid: "h" } };
    const log = await convert("claude-code", [
      ...turn,
      line("system", 31, {
        subtype: "compact_boundary",
        compactMetadata: metadata,
      }),
      user(32, "Summary of all", { isCompactSummary: true }),
    ]);

    expect(outline(log).at(-1)).toBe("user/message plugin Summary of all");
    expect(outline(log)).not.toContain("compaction/start");
    expect(noteTexts(log).join()).toContain(
      "compactions that can't be expressed",
    );
  });
});

describe("branches of Claude Code", () => {
  const chain = [
    user(1, "One", { uuid: "u1", parentUuid: null }),
    answer(2, "m1", call("c1"), null, undefined, {
      uuid: "a1",
      parentUuid: "u1",
    }),
    answer(
      3,
      "m1",
      call("c2"),
      "tool_use",
      {},
      { uuid: "a2", parentUuid: "a1" },
    ),
    line("progress", 3, { uuid: "p1", parentUuid: "a1" }),
    result(4, "c1", "one", { uuid: "r1", parentUuid: "a1" }),
    result(5, "c2", "two", { uuid: "r2", parentUuid: "a2" }),
    answer(
      6,
      "m2",
      text("Both."),
      "end_turn",
      {},
      { uuid: "a3", parentUuid: "r2" },
    ),
  ];

  it("are none where calls run side by side", async () => {
    const log = await convert("claude-code", chain);

    expect(
      outline(log).filter((each) => each.startsWith("tool/result")),
    ).toEqual(["tool/result tool one", "tool/result tool two"]);
  });

  it("are refused, with the line where the second begins", async () => {
    const again = user(9, "One, but better", { uuid: "u2", parentUuid: "a3" });
    const other = user(8, "Other", { uuid: "u3", parentUuid: "a3" });
    const late = answer(
      9,
      "m3",
      text("Old"),
      null,
      {},
      { uuid: "a4", parentUuid: "u3" },
    );

    const refusal = await refusalOf("claude-code", [
      ...chain,
      other,
      late,
      again,
    ]);

    expect(refusal.line).toBe(10);
    expect(refusal.reason).toContain("several branches");
  });

  it("of sub-agents are passed over and counted", async () => {
    const aside = user(4, "Look", { uuid: "s1", isSidechain: true });
    const log = await convert("claude-code", [...chain, aside, aside]);

    expect(noteTexts(log)).toEqual([
      "1 lines of sub-agents (line 8)",
      "1 repeated lines (line 9)",
      "1 lines of type progress (line 4)",
    ]);
    expect((await refusalOf("claude-code", [aside])).reason).toContain(
      "sub-agent alone",
    );
  });
});

describe("a session of Claude Code that was resumed into a new file", () => {
  it("inherits the copied lines and marks them (B054)", async () => {
    const copied = turn.map((each) => ({ ...each, sessionId: "parent-id" }));
    const log = await convert("claude-code", [
      ...copied,
      user(50, "Resumed"),
      answer(51, "msg_9", text("Hello again."), "end_turn"),
    ]);

    expect(log.header).toMatchObject({
      parentSession: "parent-id",
      seedLength: 12,
    });
    expect(outline(log).slice(12, 16)).toEqual([
      "session/end-seed",
      "turn/start",
      "step/start",
      "user/message user Resumed",
    ]);
    expect(log.events[16]?.event.data).toMatchObject({ reason: "resume" });
  });

  it("is told by the origin that a fork names", async () => {
    const copied = turn.map((each) => ({
      ...each,
      forkedFrom: { sessionId: "trunk" },
    }));
    const log = await convert("claude-code", [...copied, user(50, "Forked")]);

    expect(log.header).toMatchObject({
      parentSession: "trunk",
      seedLength: 12,
    });
  });

  it("is refused where lines of two sessions are mixed", async () => {
    const refusal = await refusalOf("claude-code", [
      user(1, "Mine"),
      { ...user(2, "Yours"), sessionId: "other" },
      user(3, "Mine"),
    ]);

    expect(refusal).toMatchObject({ line: 2 });
    expect(refusal.reason).toContain("two sessions are mixed");
  });
});

describe("what a log of ours can't hold", () => {
  it("is counted by kind, and images leave a mark in their place", async () => {
    const image = {
      type: "image",
      source: { type: "base64", media_type: "image/png", data: "AA==" },
    };
    const log = await convert("claude-code", [
      user(1, [text("Look"), image]),
      line("file-history-snapshot", 1, {}),
      line("file-history-snapshot", 1, {}),
      line("system", 1, { subtype: "turn_duration" }),
      line("attachment", 1, { attachment: { type: "todo" } }),
      result(2, "nobody", "lost"),
      answer(
        3,
        "m1",
        { type: "server_tool_use", id: "w", name: "web" },
        "end_turn",
      ),
    ]);

    expect(outline(log)[2]).toBe("user/message user Look [image: image/png]");
    expect(noteTexts(log)).toEqual([
      "1 images, of which the bytes are not kept (line 1)",
      "2 lines of type file-history-snapshot (line 2)",
      "1 system lines of type turn_duration (line 4)",
      "1 attachments of type todo (line 5)",
      "1 tool results without a call in their step (line 6)",
      "1 blocks of type server_tool_use, kept as they are (line 7)",
    ]);
  });

  it("does not keep the bytes of a file that a tool gave back", async () => {
    const log = await convert("claude-code", [
      user(1, "Show"),
      answer(2, "m1", call("c1"), "tool_use"),
      result(3, "c1", "seen", { toolUseResult: { file: { base64: "AA==" } } }),
    ]);

    expect(JSON.stringify(log.events)).not.toContain("base64");
    expect(noteTexts(log)).toEqual([
      "1 results of tools that hold the bytes of a file (line 3)",
    ]);
  });

  it("takes prompts that were queued while the model worked into the turn", async () => {
    const log = await convert("claude-code", [
      user(1, "Go"),
      answer(2, "m1", call("c1"), "tool_use"),
      result(3, "c1", "ok"),
      line("attachment", 4, {
        attachment: { type: "queued_command", prompt: "Faster" },
      }),
      answer(5, "m2", text("Done."), "end_turn"),
    ]);

    expect(outline(log).slice(6)).toEqual([
      "tool/result tool ok",
      "step/end",
      "step/start",
      "user/message user Faster",
      "assistant/message model Done.",
      "step/end",
      'turn/end {"kind":"completed"}',
    ]);
  });
});
