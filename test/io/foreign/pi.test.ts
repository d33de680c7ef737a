import { describe, expect, it } from "vitest";
import {
  at,
  piAnswer,
  piCall,
  piEntry,
  piMessage,
  piResult,
  piSession,
  piText,
  piUser,
} from "./pi-lines.ts";
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

const thinking = {
  type: "thinking",
  thinking: "Which?",
  thinkingSignature: "s",
};

const turn = [
  piUser(1, "Water the beds"),
  piAnswer(2, "toolUse", [thinking, piCall("c1")]),
  piResult(3, "c1", "north south", { details: { lines: 1 } }),
  piAnswer(4, "stop", [piText("Both are dry.")]),
];

describe("a turn of pi", () => {
  it("becomes a turn with a step for each answer, closed where the model stopped", async () => {
    const log = await convert("pi", [piSession(), ...turn]);

    expect(outline(log)).toEqual([
      "turn/start",
      "step/start",
      "user/message user Water the beds",
      "request/header",
      "assistant/message model Which? c1",
      "tool/call c1",
      "tool/result tool north south",
      "step/end",
      "step/start",
      "assistant/message model Both are dry.",
      "step/end",
      'turn/end {"kind":"completed"}',
    ]);
    expect(log.events[6]?.event.data).toMatchObject({ meta: { lines: 1 } });
    expect(log.header).toEqual({
      version: 0,
      id: "p1",
      createdAt: Date.parse(at(0)),
      cwd: "/srv/garden",
      delegationDepth: 0,
    });
  });

  it("takes its usage over, whose buckets are disjoint there too", async () => {
    const log = await convert("pi", [piSession(), ...turn]);

    const taken = {
      inputTokens: 5,
      outputTokens: 7,
      cacheReadTokens: 100,
      cacheWriteTokens: 20,
    };
    expect(usages(log)).toEqual([taken, taken]);
  });

  it("keeps what can be seen of a cancelled answer", async () => {
    const log = await convert("pi", [
      piSession(),
      piUser(1, "Dig"),
      piAnswer(2, "aborted", [piText("Digg"), piText(" "), piCall("c1")]),
    ]);

    expect(outline(log).slice(4)).toEqual([
      "assistant/message model Digg",
      "step/end",
      'turn/end {"kind":"aborted","reason":{"kind":"user"}}',
    ]);
    expect(log.events[4]?.event.data).toMatchObject({ interrupted: true });
    expect(noteTexts(log)).toEqual([
      "1 tool calls of answers that broke off (line 3)",
    ]);
  });

  it.each(["error", "aborted"])(
    "has no message of a request that came to nothing: %s",
    async (stop) => {
      const log = await convert("pi", [
        piSession(),
        piUser(1, "Dig"),
        piAnswer(2, stop, stop === "error" ? [piText("Di")] : [], {
          errorMessage: "529",
        }),
      ]);

      const chunks = log.events.flatMap(({ event }) =>
        event.type === "assistant/chunk" ? [event.data] : [],
      );
      expect(
        outline(log).some((each) => each.startsWith("assistant/message")),
      ).toBe(false);
      expect(chunks.at(-1)).toMatchObject({
        chunk: {
          type: "finish",
          reason: { kind: stop, failure: { message: "529" } },
        },
      });
      expect(chunks.at(-2)).toMatchObject({
        chunk: { usage: { outputTokens: 7 } },
      });
      expect(chunks).toHaveLength(stop === "error" ? 4 : 2);
    },
  );

  it("ends at the cap where the answer did", async () => {
    const log = await convert("pi", [
      piSession(),
      piUser(1, "Tell all"),
      piAnswer(2, "length", [piText("All")]),
    ]);

    expect(outline(log).at(-1)).toBe('turn/end {"kind":"max-tokens"}');
  });

  it("says what the model gets to see of a command that the person ran", async () => {
    const log = await convert("pi", [
      piSession(),
      piMessage(1, "bashExecution", {
        command: "ls",
        output: "a",
        exitCode: 2,
        fullOutputPath: "/tmp/x",
      }),
      piMessage(2, "bashExecution", {
        command: "rm",
        output: "",
        cancelled: true,
      }),
      piMessage(3, "bashExecution", {
        command: "id",
        output: "",
        excludeFromContext: true,
      }),
      piEntry(4, "custom_message", {
        customType: "memo",
        content: "Mind the hose",
      }),
      piUser(5, '<skill name="rake">'),
    ]);

    expect(outline(log)).toEqual([
      "turn/start",
      "step/start",
      "user/message plugin Ran `ls`\n```\na\n```\nCommand exited with code 2\n[Output truncated. Full output: /tmp/x]",
      "user/message plugin Ran `rm`\n(no output)\n(command cancelled)",
      "user/message plugin Mind the hose",
      'user/message plugin <skill name="rake">',
    ]);
    expect(noteTexts(log)).toEqual([
      "1 commands that the model did not see (line 4)",
    ]);
  });

  it("says where requests go when that changes", async () => {
    const log = await convert("pi", [
      piSession(),
      ...turn,
      piEntry(5, "thinking_level_change", { thinkingLevel: "high" }),
      piEntry(5, "model_change", { provider: "openai", modelId: "gpt-test" }),
      piUser(6, "Next"),
      piMessage(7, "assistant", {
        content: [piText("Yes")],
        stopReason: "stop",
      }),
    ]);

    const headers = log.events.flatMap(({ event }) =>
      event.type === "request/header" ? [event.data] : [],
    );
    expect(headers.at(-1)).toEqual({
      header: {
        config: {
          provider: "openai",
          model: "gpt-test",
          reasoningEffort: "high",
        },
      },
      reason: "change",
    });
  });
});

const compaction = (facts: object): object =>
  piEntry(20, "compaction", {
    summary: "They were watered",
    tokensBefore: 9,
    ...facts,
  });

describe("a compaction of pi", () => {
  const next = [piUser(10, "Rake"), piAnswer(11, "stop", [piText("Raked.")])];

  it("hides what stands before the first entry it keeps, and a second one hides the first", async () => {
    const log = await convert("pi", [
      piSession(),
      ...turn,
      ...next,
      compaction({ firstKeptEntryIndex: 5 }),
      piUser(21, "Mow"),
      piAnswer(22, "stop", [piText("Mown.")]),
      compaction({ firstKeptEntryIndex: 8 }),
    ]);

    const checkpoints = log.events.flatMap(({ event }) =>
      event.surfaceOp !== undefined && event.surfaceOp !== "append"
        ? [event]
        : [],
    );
    expect(checkpoints.map(({ surfaceOp }) => surfaceOp)).toEqual([
      { op: "replace", start: 2, end: 9 },
      { op: "replace", start: checkpoints[0]?.seq, end: 15 },
    ]);
    expect(noteTexts(log)).toContain(
      "2 compactions, without the frame around their summary and the usage of its request (line 8)",
    );
  });

  it("may keep part of what the one before it kept", async () => {
    const log = await convert("pi", [
      piSession(),
      ...turn,
      ...next,
      compaction({ firstKeptEntryIndex: 5 }),
      compaction({ firstKeptEntryIndex: 6 }),
    ]);

    const summaries = log.events
      .filter(({ event }) => event.type === "compaction/summary")
      .map(({ event }) => event.data);
    expect(summaries).toMatchObject([
      { shadowedSeqs: [2, 4, 6, 9] },
      { shadowedSeqs: [20, 14] },
    ]);
  });

  it("names the entry by its id in later versions", async () => {
    const chained = [
      ...turn,
      ...next,
      compaction({ firstKeptEntryId: "e4" }),
    ].map((each, position) => ({
      ...each,
      id: `e${position}`,
      parentId: position === 0 ? null : `e${position - 1}`,
    }));
    const log = await convert("pi", [piSession({ version: 3 }), ...chained]);

    expect(outline(log)).toContain("user/message plugin They were watered");
  });

  it.each([
    ["parts a call from its result", 3],
    ["keeps everything", 1],
    ["names an entry that is not there", 99],
  ])("that %s is noted, and all messages stay", async (_what, kept) => {
    const log = await convert("pi", [
      piSession(),
      ...turn,
      compaction({ firstKeptEntryIndex: kept }),
    ]);

    expect(outline(log)).not.toContain("compaction/start");
    expect(noteTexts(log)).toContain(
      "1 compactions that can't be expressed: all messages stay (line 6)",
    );
  });
});

describe("the tree of pi", () => {
  it("is refused where it branches", async () => {
    const refusal = await refusalOf("pi", [
      piSession({ version: 3 }),
      { ...piUser(1, "One"), id: "a", parentId: null },
      { ...piUser(2, "Two"), id: "b", parentId: "a" },
      { ...piUser(3, "Other two"), id: "c", parentId: "a" },
    ]);

    expect(refusal).toMatchObject({ line: 4 });
    expect(refusal.reason).toContain("several branches");
  });

  it("inherits the entries that are older than a branched session (B054)", async () => {
    const branch = piSession(
      { branchedFrom: "/home/x/2031-01-01T07-00-00-000Z_trunk-id.jsonl" },
      50,
    );
    const log = await convert("pi", [
      branch,
      ...turn,
      piUser(60, "Own"),
      piAnswer(61, "stop", [piText("Yes")]),
    ]);

    expect(log.header).toMatchObject({
      parentSession: "trunk-id",
      seedLength: 12,
    });
    expect(outline(log).slice(12, 16)).toEqual([
      "session/end-seed",
      "turn/start",
      "step/start",
      "user/message user Own",
    ]);
    expect(noteTexts(log)).toContain(
      "12 inherited events, from entries that are older than the session (line 6)",
    );
  });

  it("gives the same log with more behind it as it grows", async () => {
    await expectBeginningsToBePrefixes("pi", [
      piSession(),
      ...turn,
      piUser(10, "Dig"),
      piAnswer(11, "aborted", [piText("Digg")]),
      piUser(12, "Rake"),
      piAnswer(13, "error", [], { errorMessage: "529" }),
      piAnswer(14, "toolUse", [piCall("c1"), piCall("c2")]),
      piResult(15, "c1", "a"),
      piEntry(16, "compaction", { summary: "S", firstKeptEntryIndex: 5 }),
      piResult(17, "c2", "b"),
      piAnswer(18, "stop", [piText("Raked.")]),
    ]);
  });
});

describe("what a log of ours can't hold of pi", () => {
  it("is counted by kind", async () => {
    const log = await convert("pi", [
      piSession(),
      piMessage(1, "user", {
        content: [
          piText("Look"),
          { type: "image", data: "AA==", mimeType: "image/png" },
        ],
      }),
      piEntry(1, "label", { label: "here" }),
      piEntry(1, "session_info", { name: "Garden" }),
      piEntry(1, "session_info", { name: "" }),
      piMessage(1, "branchSummary", {}),
      piResult(2, "nobody", "lost", { usage: {} }),
    ]);

    expect(outline(log).slice(2)).toEqual([
      "user/message user Look [image: image/png]",
      "session/title Garden",
    ]);
    expect(noteTexts(log)).toEqual([
      "1 images, of which the bytes are not kept (line 2)",
      "1 entries of type label (line 3)",
      "1 names taken away (line 5)",
      "1 messages of role branchSummary (line 6)",
      "1 tool results without a call in their step (line 7)",
      "1 usage reports of tools (line 7)",
    ]);
  });

  it("is refused as a whole when the file is none of pi", async () => {
    expect(await refusalOf("pi", [piUser(1, "Hi")])).toMatchObject({ line: 1 });
  });
});
