import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { importFile } from "../../src/io/import-file.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect } from "../support/events.ts";
import {
  header,
  prompt,
  stepStart,
  turnStart,
  useLogFolder,
} from "./log-files.ts";

const database = useTestDatabase();
const { write } = useLogFolder();

const trigger = { kind: "message", source: { kind: "user" } };
const oldStart = { ...turnStart, data: { turn: 1, trigger } };
const oldPrompt = {
  ...prompt,
  data: { content: prompt.data.content, source: prompt.data.source },
};
const steering = (data: object): object => ({
  type: "steering/message",
  seq: 2,
  time: 12,
  data,
  surfaceOp: "append",
});
const oldAnswer = {
  type: "assistant/message",
  seq: 3,
  time: 13,
  data: {
    turn: 1,
    step: 1,
    content: [{ type: "tool-call", id: "c1", name: "bash", arguments: "{}" }],
    provenance: { provider: "acme", model: "m-1" },
    usage: { inputTokens: 3, outputTokens: 4 },
  },
  sourceEventSeqs: [],
  surfaceOp: "append",
};
const call = {
  type: "tool/call",
  seq: 4,
  time: 14,
  data: { turn: 1, step: 1, callId: "c1", name: "bash", arguments: "{}" },
};
const oldResult = {
  type: "tool/result",
  seq: 5,
  time: 15,
  data: {
    turn: 1,
    step: 1,
    callId: "c1",
    content: [{ type: "text", text: "done" }],
    isError: false,
  },
  sourceEventSeqs: [4],
  surfaceOp: "append",
};
const oldEnd = (reason: object): object => ({
  type: "turn/end",
  seq: 1,
  time: 20,
  data: { turn: 1, reason },
});

async function converted(...lines: readonly object[]) {
  const id = randomUUID();
  const report = await importFile(
    database().store,
    await write(header(id), ...lines),
  );
  expect(report).toMatchObject({ outcome: "imported", reason: null });
  return { id, report, events: await collect(database().store, id) };
}

describe("an event of an earlier shape", () => {
  it("gets the identity that a message did not have", async () => {
    const { id, events, report } = await converted(
      oldStart,
      stepStart,
      oldPrompt,
      oldAnswer,
      call,
      oldResult,
    );

    expect(report.converted).toBe(4);
    expect(events[0]?.data).toEqual({ turn: 1 });
    expect(events[2]?.data).toEqual({
      ...oldPrompt.data,
      id: `legacy-message:${id}:2`,
      role: "user",
    });
    const { content, provenance, ...answer } = oldAnswer.data;
    expect(events[3]).toEqual({
      ...oldAnswer,
      data: {
        ...answer,
        message: {
          id: `legacy-message:${id}:3`,
          role: "assistant",
          content,
          source: { ...provenance, kind: "model" },
        },
      },
    });
    expect(events[5]?.data).toEqual({
      turn: 1,
      step: 1,
      message: {
        id: `legacy-message:${id}:5`,
        role: "user",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            content: oldResult.data.content,
            isError: false,
          },
        ],
        source: { kind: "tool", callId: "c1" },
      },
    });
  });

  it("that rewrites a tool result keeps the identity of the result", async () => {
    const { id, events } = await converted(
      turnStart,
      stepStart,
      oldPrompt,
      oldAnswer,
      call,
      oldResult,
      {
        ...oldResult,
        seq: 6,
        data: { ...oldResult.data, content: [] },
        sourceEventSeqs: [5],
        surfaceOp: { op: "replace", start: 5, end: 5 },
      },
    );

    expect(events[6]?.data).toMatchObject({
      message: { id: `legacy-message:${id}:5` },
    });
  });

  it("becomes a user message when it is a steering message", async () => {
    const { id, events } = await converted(
      turnStart,
      stepStart,
      steering({ turn: 1, ...oldPrompt.data }),
    );

    expect(events[2]).toEqual({
      ...prompt,
      data: {
        ...oldPrompt.data,
        id: `legacy-message:${id}:2`,
        role: "user",
      },
    });
  });

  it("is unwrapped when it is a steering message with identity", async () => {
    const { events } = await converted(
      turnStart,
      stepStart,
      steering({ turn: 1, message: prompt.data }),
    );

    expect(events[2]).toEqual(prompt);
  });

  it.each<[object, object]>([
    [{ kind: "aborted" }, { kind: "aborted", reason: { kind: "legacy" } }],
    [{ kind: "disposed" }, { kind: "aborted", reason: { kind: "disposed" } }],
    [
      { kind: "error", step: 1, message: "no route" },
      { kind: "error", error: { message: "no route", code: "UNKNOWN" } },
    ],
    [
      { kind: "error", step: 1, message: "no route", code: "NET" },
      { kind: "error", error: { message: "no route", code: "NET" } },
    ],
    [
      {
        kind: "error",
        step: 0,
        failure: { message: "busy", code: "RATE", status: 429 },
      },
      { kind: "error", error: { message: "busy", code: "RATE", status: 429 } },
    ],
  ])("that ends a turn by %j says it in today's words", async (old, now) => {
    const { events } = await converted(turnStart, oldEnd(old));

    expect(events[1]?.data).toEqual({ turn: 1, reason: now });
  });

  it("is converted alike when the file is imported again", async () => {
    const { store } = database();
    const id = randomUUID();
    const file = await write(header(id), oldStart, stepStart, oldPrompt);
    await importFile(store, file);

    expect(await importFile(store, file)).toMatchObject({
      outcome: "unchanged",
      converted: 2,
    });
  });
});

describe("an event of today's shape", () => {
  it("stays as it is, the trigger of a turn too when nothing else is old", async () => {
    const { events, report } = await converted(oldStart, stepStart, prompt);

    expect(report.converted).toBe(0);
    expect(events).toEqual([oldStart, stepStart, prompt]);
  });

  it.each<object>([
    { kind: "completed" },
    { kind: "interrupted" },
    { kind: "aborted", reason: { kind: "user" } },
    { kind: "error", error: { message: "m", code: "C" } },
    { kind: "paused-by-plugin", note: 1 },
  ])("that ends a turn by %j stays as it is", async (reason) => {
    const { events } = await converted(turnStart, oldEnd(reason));

    expect(events[1]?.data).toEqual({ turn: 1, reason });
  });
});

describe("a shape that is neither old nor new is refused", () => {
  it.each<[string, number, readonly object[]]>([
    [
      "a trigger beside another key",
      2,
      [{ ...turnStart, data: { turn: 1, trigger, note: 1 } }],
    ],
    [
      "a trigger without kind",
      2,
      [{ ...turnStart, data: { turn: 1, trigger: {} } }],
    ],
    [
      "a prompt with an id and no role",
      4,
      [
        turnStart,
        stepStart,
        { ...oldPrompt, data: { ...oldPrompt.data, id: "m" } },
      ],
    ],
    [
      "an answer without provenance",
      5,
      [
        turnStart,
        stepStart,
        prompt,
        { ...oldAnswer, data: { ...oldAnswer.data, provenance: undefined } },
      ],
    ],
    [
      "an aborted turn with a note",
      3,
      [turnStart, oldEnd({ kind: "aborted", note: 1 })],
    ],
    [
      "a disposed turn with a cause",
      3,
      [turnStart, oldEnd({ kind: "disposed", reason: "x" })],
    ],
    [
      "an error without message",
      3,
      [turnStart, oldEnd({ kind: "error", step: 1 })],
    ],
    [
      "an error whose step is none",
      3,
      [turnStart, oldEnd({ kind: "error", step: -1, message: "m" })],
    ],
    [
      "an error with a failure and a message",
      3,
      [
        turnStart,
        oldEnd({ kind: "error", step: 1, failure: {}, message: "m" }),
      ],
    ],
    [
      "a steering message without source",
      4,
      [turnStart, stepStart, steering({ turn: 1, content: [] })],
    ],
    [
      "a steering message of no turn",
      4,
      [turnStart, stepStart, steering({ message: prompt.data })],
    ],
  ])("%s", async (_what, line, lines) => {
    const report = await importFile(
      database().store,
      await write(header("x"), ...lines),
    );

    expect(report).toMatchObject({
      outcome: "refused",
      code: "EVENT_INVALID",
      line,
    });
  });
});
