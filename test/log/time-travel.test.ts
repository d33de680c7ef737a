import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { foldRequestHeader } from "@deepseek-ai/dsh-session";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  EventNotFoundError,
  RequestNotFoundError,
  SessionNotFoundError,
} from "../../src/errors.ts";
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
import {
  answer,
  compaction,
  finish,
  inPlaceOf,
  OPENING,
  priced,
  requestHeader,
  retry,
  STEP,
  STEP_END,
  text,
  toolCall,
  toolResult,
  turnEnd,
} from "../support/request-events.ts";

const database = useTestDatabase();

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
    const prompts = Array.from({ length: 2_500 }, (_, at) => prompt(`p${at}`));
    const id = await stored(prompts);

    expect(await messagesAt(id, 2_200)).toHaveLength(2_201);
  });

  it.each([-1, 2, 0.5, Number.NaN])(
    "refuses %d, which no event has",
    async (seq) => {
      const id = await stored([note(), note()]);

      const failure = messagesAt(id, seq);

      await expect(failure).rejects.toBeInstanceOf(EventNotFoundError);
      await expect(failure).rejects.toMatchObject({
        sessionId: id,
        seq,
        head: 2,
      });
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
    const id = await stored([...OPENING, answer([call]), toolCall("c1")]);

    const derived = await messagesAt(id, 3);
    const healed = toProviderMessages(derived.map(({ message }) => message));

    expect(derived[1]?.message.content).toEqual([call]);
    expect(healed[1]?.content).toEqual([
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
  const last = events.length - 1;
  const seqs = events
    .filter(({ seq, type }) => isSurfaceType(type) || seq === last)
    .map(({ seq }) => seq);
  for (const seq of seqs)
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
      answer([text("abcd")], [4, 5, 6, 7, 8]),
      STEP_END,
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
      STEP_END,
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
      finish("stop"),
      finish("stop"),
      answer([text("ok")], [3]),
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
      ...compaction(5, [2, 3]),
      answer([text("ok")], []),
      STEP_END,
    ]);

    const before = await requestAt(id, { ...STEP, attempt: 1 });
    const after = await requestAt(id, STEP);

    expect(before).toMatchObject({ outcome: "failed", beforeSeq: 4 });
    expect(textsOf(before.messages)).toEqual(["hi", "more"]);
    expect(after).toMatchObject({ attempt: 2, beforeSeq: 9 });
    expect(textsOf(after.messages)).toEqual(["in short"]);
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
      STEP_END,
      { type: "step/start", data: { turn: 1, step: 2 } },
    ]);

    const failure = requestAt(id, query);

    await expect(failure).rejects.toBeInstanceOf(RequestNotFoundError);
    await expect(failure).rejects.toMatchObject({
      sessionId: id,
      turn: query.turn,
      step: query.step,
    });
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
      ...compaction(4, [2, 3]),
      prompt("on"),
    ]);

    const items = await transcriptOf(id);

    expect(placesOf(items)).toEqual([
      ["message", 2],
      ["message", 3],
      ["compaction", 6],
      ["message", 8],
    ]);
    expect(items[2]).toMatchObject({
      summary: [text("in short")],
      summarySeq: 5,
    });
    expect(await transcriptOf(id, { fromSeq: 6 })).toEqual(items.slice(2));
    expect(textsOf(await messagesAt(id, 8))).toEqual(["in short", "on"]);
  });

  it("shows neither a pruned result nor another replacement, and a failed compaction as an error", async () => {
    const ids = { compactionId: "k", turn: 1 };
    const id = await stored([
      ...OPENING,
      toolCall("c1"),
      toolResult("c1", "long output"),
      { type: "compaction/prune", data: priced([4]) },
      inPlaceOf([4], toolResult("c1", "long…")),
      inPlaceOf([2], prompt("hi again")),
      { type: "compaction/start", data: ids },
      { type: "compaction/end", data: { ...ids, error: "no room" } },
    ]);

    const items = await transcriptOf(id);

    expect(placesOf(items)).toEqual([
      ["message", 2],
      ["message", 4],
      ["error", 9],
    ]);
    expect(JSON.stringify(items)).toContain("long output");
    expect(JSON.stringify(await messagesAt(id, 9))).toContain("long…");
  });

  it("shows todo, approvals, commands and retries, with what they say", async () => {
    const todo = { todos: [{ content: "test", status: "pending" }] };
    const id = await stored([
      ...OPENING,
      requestHeader(),
      { type: "todo/write", data: todo },
      { type: "approval/asked", data: { id: "q", toolName: "bash" } },
      { type: "approval/decided", data: { id: "q", outcome: "rejected" } },
      {
        type: "command/run",
        data: { commandId: "c", name: "plan", source: { kind: "user" } },
      },
      { type: "command/done", data: { commandId: "c", kind: "error" } },
      ...retry(1),
    ]);

    const items = await transcriptOf(id, { fromSeq: 3 });

    expect(placesOf(items)).toEqual([
      ["todo", 4],
      ["approval", 5],
      ["approval", 6],
      ["command", 7],
      ["command", 8],
      ["retry", 9],
    ]);
    expect(items[0]).toMatchObject({ type: "todo/write", data: todo });
  });

  it.each([
    [{ kind: "max-tokens" }],
    [{ kind: "blocked" }],
    [{ kind: "interrupted" }],
    [{ kind: "error", error: { message: "gone", code: "TRANSPORT" } }],
    [{ kind: "acme-paused", until: null }],
  ])("shows a turn that ended by %j", async (reason) => {
    const [start] = OPENING;
    const id = await stored(start ? [start, turnEnd(reason)] : []);

    expect(await transcriptOf(id)).toEqual([
      { kind: "turn-end", seq: 1, timeMs: expect.any(Number), turn: 1, reason },
    ]);
  });

  it("does not show that a turn ended as it should", async () => {
    const [start] = OPENING;
    const end = turnEnd({ kind: "completed" });
    const id = await stored(start ? [start, end] : []);

    expect(await transcriptOf(id)).toEqual([]);
  });

  it("says interrupted, and not failed, of what the user stopped (B091)", async () => {
    const aborted = { error: { name: "AbortError", code: "ABORTED" } };
    const failed = { error: { name: "CommandFailed", code: "EXIT_STATUS" } };
    const reason = { kind: "aborted", reason: { kind: "user" } };
    const id = await stored([
      ...OPENING,
      toolCall("c1"),
      toolResult("c1", "Error: tool call aborted", aborted),
      toolCall("c2"),
      toolResult("c2", "exit 1", failed),
      STEP_END,
      turnEnd(reason),
    ]);

    expect(await transcriptOf(id, { fromSeq: 3 })).toMatchObject([
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
        const entered = log.events.filter(
          ({ surfaceOp }) => surfaceOp === "append",
        );
        const checkpoints = log.events.filter(
          ({ surfaceOp, data }) =>
            typeof surfaceOp === "object" &&
            JSON.stringify(data).includes('"plugin":"compact"'),
        );

        expect(seqsOf(items, "message")).toEqual(entered.map(({ seq }) => seq));
        expect(seqsOf(items, "compaction")).toEqual(
          checkpoints.map(({ seq }) => seq),
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

function placesOf(items: readonly TranscriptItem[]): unknown[] {
  return items.map(({ kind, seq }) => [kind, seq]);
}
