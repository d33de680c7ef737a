import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { foldRequestHeader } from "@deepseek-ai/dsh-session";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventInvalidError, SessionNotFoundError } from "../../src/errors.ts";
import { deriveMessages } from "../../src/events/derive-messages.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { SessionId } from "../../src/events/ids.ts";
import type { Message } from "../../src/events/message.ts";
import { toProviderMessages } from "../../src/events/provider-messages.ts";
import type { TranscriptItem } from "../../src/events/transcript.ts";
import { isSurfaceType } from "../../src/events/vocabulary.ts";
import { readMessagesAt } from "../../src/log/messages-at.ts";
import { readRequestAt, type RequestQuery } from "../../src/log/request-at.ts";
import {
  readTranscript,
  type TranscriptOptions,
} from "../../src/log/transcript.ts";
import { appendLog } from "../support/append-log.ts";
import { useTestDatabase } from "../support/database.ts";
import { ours } from "../support/derived.ts";
import { collect, deltas, note, prompt } from "../support/events.ts";
import { legalLog } from "../support/generated-logs.ts";
import { exampleFiles } from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { readLog, type LogLike } from "../support/reference-log.ts";
import { referenceFold } from "../support/reference.ts";

const database = useTestDatabase();
const STEP = { turn: 1, step: 1 };

async function stored(events: readonly NewEvent[]): Promise<SessionId> {
  const id = randomUUID();
  await database().store.append(id, events, { expectedSeq: 0 });
  return SessionId(id);
}

function messagesAt(id: SessionId, seq: number) {
  return readMessagesAt(database().db, id, seq);
}

function requestAt(id: SessionId, query: RequestQuery) {
  return readRequestAt(database().db, id, query);
}

async function transcriptOf(
  id: SessionId,
  options?: TranscriptOptions,
): Promise<TranscriptItem[]> {
  const items: TranscriptItem[] = [];
  for await (const item of readTranscript(database().db, id, options))
    items.push(item);
  return items;
}

function chunk(data: object): NewEvent {
  return { type: "assistant/chunk", data: { ...STEP, chunk: data } };
}

function finish(kind: string): NewEvent {
  return chunk({ type: "finish", reason: { kind } });
}

function answer(content: readonly object[], more: object = {}): NewEvent {
  const source = { kind: "model", provider: "p", model: "x" };
  const message = { id: "a", role: "assistant", content, source };
  return {
    type: "assistant/message",
    data: { ...STEP, message },
    surfaceOp: "append",
    ...more,
  };
}

function result(content: readonly object[], more: object = {}): NewEvent {
  const block = { type: "tool-result", toolCallId: "c1", content };
  const source = { kind: "tool", callId: "c1" };
  const message = { id: "r", role: "user", content: [block], source };
  return {
    type: "tool/result",
    data: { ...STEP, message, ...more },
    surfaceOp: "append",
  };
}

function requestHeader(header: object): NewEvent {
  const config = { provider: "p", model: "x" };
  return {
    type: "request/header",
    data: { header: { config, ...header }, reason: "initial" },
  };
}

function retry(retryNumber: number): NewEvent[] {
  const data = { retryId: "r", ...STEP, retry: retryNumber };
  return [
    { type: "llm/retry", data },
    { type: "llm/retry-started", data },
  ];
}

function bracket(type: string, more: object = {}): NewEvent {
  return { type, data: { ...STEP, ...more } };
}

/** A compaction of the nodes from start to end, whose first event gets the seq `at`. */
function compaction(at: number, start: number, end: number): NewEvent[] {
  const ids = { compactionId: "k" };
  const source = { kind: "plugin", plugin: "compact", ...ids };
  const summary = [text("in short")];
  return [
    { type: "compaction/start", data: { ...ids, turn: 1 } },
    { type: "compaction/summary", data: { ...ids, summary } },
    {
      type: "user/message",
      data: { id: "s", role: "user", content: summary, source },
      surfaceOp: { op: "replace", start, end },
      sourceEventSeqs: [at, at + 1, ...range(start, end)],
    },
    { type: "compaction/end", data: { ...ids, turn: 1 } },
  ];
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start + 1 }, (_, at) => start + at);
}

function text(value: string): object {
  return { type: "text", text: value };
}

const OPENING = [bracket("turn/start"), bracket("step/start"), prompt("hi")];

/** Texts of messages, for a look. */
function textsOf(
  messages: readonly { readonly message: Message }[],
): unknown[] {
  return messages.flatMap(({ message }) =>
    message.content.map((block) => Object.entries(Object(block))[1]?.[1]),
  );
}

describe("messagesAt", () => {
  it.each(exampleFiles().map((path) => [basename(path), path]))(
    "is at each event of %s what the fold of the log so far is",
    async (_name, path) => {
      await expectMessagesAtEvery(readLog(path));
    },
  );

  it("is at each event of any log what the fold of the log so far is", async () => {
    await fc.assert(fc.asyncProperty(legalLog(), expectMessagesAtEvery), {
      numRuns: runs(12),
    });
  });

  it("reads a surface of several pages", async () => {
    const prompts = range(0, 2_499).map((at) => prompt(`p${at}`));
    const id = await stored(prompts);

    expect(await messagesAt(id, 2_200)).toHaveLength(2_201);
  });

  it.each([-1, 2, 0.5, Number.NaN])(
    "refuses %d, which no event has",
    async (seq) => {
      const id = await stored([note(), note()]);

      const failure = messagesAt(id, seq);

      await expect(failure).rejects.toBeInstanceOf(EventInvalidError);
      await expect(failure).rejects.toMatchObject({ rule: "seq", path: "seq" });
    },
  );

  it("fails for a session that does not exist", async () => {
    const id = SessionId(randomUUID());

    await expect(messagesAt(id, 0)).rejects.toBeInstanceOf(
      SessionNotFoundError,
    );
    await expect(requestAt(id, STEP)).rejects.toBeInstanceOf(
      SessionNotFoundError,
    );
    await expect(transcriptOf(id)).rejects.toBeInstanceOf(SessionNotFoundError);
  });

  it("gives half a character as it was, and the provider a whole one (B006)", async () => {
    const call = {
      type: "tool-call",
      id: "c1",
      name: "x",
      arguments: "현\ud99c 보유",
    };
    const id = await stored([answer([call]), result([text("ok")])]);

    const derived = await messagesAt(id, 1);
    const healed = toProviderMessages(derived.map(({ message }) => message));

    expect(derived[0]?.message.content).toEqual([call]);
    expect(healed[0]?.content).toEqual([
      { ...call, arguments: "현\ufffd 보유" },
    ]);
    expect(JSON.stringify(await collect(database().store, id))).toContain(
      String.raw`현\ud99c 보유`,
    );
  });
});

async function expectMessagesAtEvery(log: LogLike): Promise<void> {
  if (log.events.length === 0) return;
  const kept = await appendLog(database().store, log, 40);
  const id = SessionId(kept.header.id);
  const { events } = ours(log);
  for (const { seq, type } of events)
    if (isSurfaceType(type) || seq === events.length - 1)
      expect(await messagesAt(id, seq)).toEqual(
        deriveMessages(events.slice(0, seq + 1)),
      );
}

describe("requestAt", () => {
  it.each(exampleFiles().map((path) => [basename(path), path]))(
    "is for each answer of %s what the reference sent",
    async (_name, path) => {
      await expectReferenceRequests(readLog(path));
    },
  );

  it("is for each answer of any log what the reference sent", async () => {
    await fc.assert(fc.asyncProperty(legalLog(), expectReferenceRequests), {
      numRuns: runs(15),
    });
  });

  it("is the first request up to its first chunk, packed or not", async () => {
    const id = await stored([
      ...OPENING,
      requestHeader({ system: "", tools: [], adapterDefaults: {} }),
      ...deltas(["a", "b", "c", "d"]),
      finish("stop"),
      answer([text("abcd")], { sourceEventSeqs: [4, 5, 6, 7, 8] }),
      bracket("step/end"),
    ]);

    expect(await requestAt(id, STEP)).toEqual({
      ...STEP,
      attempt: 1,
      outcome: "message",
      beforeSeq: 4,
      header: { config: { provider: "p", model: "x" } },
      messages: await messagesAt(id, 3),
    });
  });

  it("tells attempts apart by retries, also those that streamed nothing", async () => {
    const id = await stored([
      ...OPENING,
      requestHeader({ system: "one" }),
      ...deltas(["a", "b", "c"]),
      finish("error"),
      ...retry(1),
      requestHeader({ system: "two" }),
      ...retry(2),
      ...deltas(["a", "b", "c"]),
      finish("stop"),
      answer([text("abc")]),
      bracket("step/end"),
    ]);

    const requests = await Promise.all(
      [1, 2, 3].map((attempt) => requestAt(id, { ...STEP, attempt })),
    );

    expect(
      requests.map(({ attempt, outcome, beforeSeq, header }) => [
        attempt,
        outcome,
        beforeSeq,
        header?.["system"],
      ]),
    ).toEqual([
      [1, "failed", 4, "one"],
      [2, "failed", 11, "two"],
      [3, "message", 13, "two"],
    ]);
    expect(await requestAt(id, STEP)).toEqual(requests[2]);
  });

  it("tells attempts apart by a finish that another chunk follows", async () => {
    const id = await stored([
      ...OPENING,
      ...[finish("stop"), finish("stop")],
      answer([text("ok")], { sourceEventSeqs: [3] }),
    ]);

    const [first, second] = [1, 2].map((attempt) =>
      requestAt(id, { ...STEP, attempt }),
    );

    expect(await first).toMatchObject({ outcome: "message", beforeSeq: 3 });
    expect(await second).toMatchObject({ outcome: "failed", beforeSeq: 4 });
  });

  it("sees what a compaction inside the step left, from the attempt after it on", async () => {
    const id = await stored([
      ...OPENING,
      prompt("more"),
      finish("error"),
      ...compaction(5, 2, 3),
      answer([text("ok")], { sourceEventSeqs: [] }),
      bracket("step/end"),
    ]);

    const before = await requestAt(id, { ...STEP, attempt: 1 });
    const after = await requestAt(id, STEP);

    expect([before.outcome, textsOf(before.messages)]).toEqual([
      "failed",
      ["hi", "more"],
    ]);
    expect([after.attempt, after.beforeSeq, textsOf(after.messages)]).toEqual([
      2,
      9,
      ["in short"],
    ]);
  });

  it("has no header where the log has none, and no outcome yet where the log ends", async () => {
    const id = await stored([...OPENING, ...deltas(["a"])]);

    expect(await requestAt(id, { ...STEP, attempt: 1 })).toMatchObject({
      header: null,
      outcome: "open",
    });
  });

  it.each<[string, RequestQuery]>([
    ["a turn that is not there", { turn: 2, step: 1 }],
    ["a step that is not there", { turn: 1, step: 3 }],
    ["a step that is no number", { turn: 1, step: 0.5 }],
    ["an attempt that is not there", { ...STEP, attempt: 2 }],
    ["attempt 0", { ...STEP, attempt: 0 }],
    ["an answer that never came", STEP],
  ])("refuses %s", async (_what, query) => {
    const id = await stored([
      ...OPENING,
      finish("error"),
      bracket("step/end"),
      bracket("step/start", { step: 2 }),
      answer([text("ok")]),
    ]);

    const failure = requestAt(id, query);

    await expect(failure).rejects.toBeInstanceOf(EventInvalidError);
    await expect(failure).rejects.toMatchObject({ rule: "request" });
  });
});

/** Each answer that names its chunks: its request is what the reference derives before the first of them. */
async function expectReferenceRequests(log: LogLike): Promise<void> {
  if (log.events.length === 0) return;
  const kept = await appendLog(database().store, log, 40);
  const { seedLength: _inherited, ...header } = log.header;
  for (const { type, data, sourceEventSeqs = [] } of ours(log).events) {
    if (type !== "assistant/message" || sourceEventSeqs.length === 0) continue;
    const first = sourceEventSeqs.reduce((a, b) => Math.min(a, b));
    const before = log.events.slice(0, first);
    const { turn, step }: RequestQuery = JSON.parse(JSON.stringify(data));
    const request = await requestAt(SessionId(kept.header.id), { turn, step });
    expect(request).toMatchObject({ beforeSeq: first, outcome: "message" });
    expect(request.messages.map(({ message }) => message)).toEqual(
      referenceFold(header, before).messages,
    );
    expect(request.header ?? undefined).toEqual(
      foldRequestHeader(JSON.parse(JSON.stringify(before))),
    );
  }
}

describe("transcript", () => {
  it("keeps what a compaction took from the model, and marks the compaction", async () => {
    const id = await stored([
      ...OPENING,
      prompt("more"),
      ...compaction(4, 2, 3),
      prompt("on"),
    ]);

    expect(await transcriptOf(id)).toEqual([
      expect.objectContaining({ kind: "message", seq: 2 }),
      expect.objectContaining({ kind: "message", seq: 3 }),
      expect.objectContaining({
        kind: "compaction",
        seq: 6,
        summarySeq: 5,
        summary: [text("in short")],
      }),
      expect.objectContaining({ kind: "message", seq: 8 }),
    ]);
    expect(textsOf(await messagesAt(id, 8))).toEqual(["in short", "on"]);
  });

  it("shows neither a pruned result nor another replacement, and a failed compaction as an error", async () => {
    const refresh = { op: "replace", start: 2, end: 2 } as const;
    const id = await stored([
      ...OPENING,
      result([text("long output")]),
      { type: "compaction/prune", data: {} },
      {
        ...result([text("long…")]),
        surfaceOp: { op: "replace", start: 3, end: 3 },
        sourceEventSeqs: [3],
      },
      { ...prompt("hi again"), surfaceOp: refresh, sourceEventSeqs: [2] },
      { type: "compaction/start", data: { compactionId: "k", turn: 1 } },
      { type: "compaction/end", data: { compactionId: "k", error: "no room" } },
    ]);

    const items = await transcriptOf(id);

    expect(items.map(({ kind, seq }) => [kind, seq])).toEqual([
      ["message", 2],
      ["message", 3],
      ["error", 8],
    ]);
    expect(JSON.stringify(items)).toContain("long output");
  });

  it("shows todo, approvals, commands, retries and every end that is not a normal one", async () => {
    const ends = ["completed", "max-tokens", "aborted", "acme-paused"].map(
      (kind) => bracket("turn/end", { reason: { kind } }),
    );
    const types = [
      "todo/write",
      "approval/asked",
      "approval/decided",
      "command/run",
      "command/done",
    ];
    const id = await stored([
      note(),
      ...types.map((type) => bracket(type)),
      ...retry(1),
      ...ends,
    ]);

    const items = await transcriptOf(id);

    expect(items.map(({ kind, seq }) => [kind, seq])).toEqual([
      ["todo", 1],
      ["approval", 2],
      ["approval", 3],
      ["command", 4],
      ["command", 5],
      ["retry", 6],
      ["turn-end", 9],
      ["turn-end", 10],
      ["turn-end", 11],
    ]);
    expect(items[0]).toMatchObject({ type: "todo/write", data: STEP });
    expect(items[6]).toMatchObject({ turn: 1, reason: { kind: "max-tokens" } });
  });

  it("says interrupted, and not failed, of what the user stopped (B091)", async () => {
    const error = { name: "AbortError", code: "ABORTED" };
    const reason = { kind: "aborted", reason: { kind: "user" } };
    const id = await stored([
      result([text("aborted")], { error }),
      result([text("no such file")], { error: { name: "E", code: "ENOENT" } }),
      bracket("turn/end", { reason }),
    ]);

    expect(await transcriptOf(id)).toMatchObject([
      { kind: "message", interrupted: true },
      { kind: "message", interrupted: false },
      { kind: "turn-end", reason },
    ]);
  });

  it("goes on from any item, and stops at the limit", async () => {
    await fc.assert(
      fc.asyncProperty(legalLog(), async (log) => {
        if (log.events.length === 0) return;
        const { header } = await appendLog(database().store, log, 40);
        const id = SessionId(header.id);
        const all = await transcriptOf(id);
        const middle = Math.floor(all.length / 2);
        const fromSeq = all[middle]?.seq ?? log.events.length;

        expect(await transcriptOf(id, { limit: middle })).toEqual(
          all.slice(0, middle),
        );
        expect(await transcriptOf(id, { fromSeq })).toEqual(all.slice(middle));
        expect(await transcriptOf(id, { limit: 0 })).toEqual([]);
      }),
      { numRuns: runs(15) },
    );
  });

  it("has every message that entered at the end, in log order, and a marker for each checkpoint", async () => {
    await fc.assert(
      fc.asyncProperty(legalLog(), async (log) => {
        if (log.events.length === 0) return;
        const { header } = await appendLog(database().store, log, 40);
        const items = await transcriptOf(SessionId(header.id));

        expect(seqsOf(items, "message")).toEqual(
          log.events
            .filter(({ surfaceOp }) => surfaceOp === "append")
            .map(({ seq }) => seq),
        );
        expect(seqsOf(items, "compaction")).toEqual(
          log.events
            .filter(
              ({ surfaceOp, data }) =>
                surfaceOp !== undefined &&
                surfaceOp !== "append" &&
                JSON.stringify(data).includes('"plugin":"compact"'),
            )
            .map(({ seq }) => seq),
        );
      }),
      { numRuns: runs(15) },
    );
  });
});

function seqsOf(
  items: readonly TranscriptItem[],
  wanted: TranscriptItem["kind"],
): number[] {
  return items.filter(({ kind }) => kind === wanted).map(({ seq }) => seq);
}
