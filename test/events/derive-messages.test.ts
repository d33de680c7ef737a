import { basename } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogCorruptError } from "../../src/errors.ts";
import {
  createMessageFold,
  deriveMessages,
  type DerivedMessage,
} from "../../src/events/derive-messages.ts";
import type { SessionEvent } from "../../src/events/event.ts";
import type { SurfaceOp } from "../../src/events/surface.ts";
import { ours } from "../support/derived.ts";
import { legalLog } from "../support/generated-logs.ts";
import { exampleFiles } from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { readLog, type LogLike } from "../support/reference-log.ts";
import { referenceFold } from "../support/reference.ts";
import { ASSISTANT_MESSAGE, TOOL_RESULT, USER_MESSAGE } from "./messages.ts";

function user(seq: number, surfaceOp: SurfaceOp = "append"): SessionEvent {
  const data = { ...USER_MESSAGE, id: `m${seq}` };
  return { type: "user/message", seq, time: 0, data, surfaceOp };
}

function answer(seq: number, content: readonly object[]): SessionEvent {
  const { message } = ASSISTANT_MESSAGE;
  const data = { ...ASSISTANT_MESSAGE, message: { ...message, content } };
  const text = JSON.stringify(data);
  return {
    type: "assistant/message",
    seq,
    time: 0,
    data: JSON.parse(text),
    surfaceOp: "append",
  };
}

function replace(seq: number, start: number, end: number): SessionEvent {
  return user(seq, { op: "replace", start, end });
}

function seqsOf(messages: readonly DerivedMessage[]): number[] {
  return messages.map(({ seq }) => seq);
}

/** The first events of a log, of which no more can be inherited than there are. */
function prefixOf({ header, events }: LogLike, length: number): LogLike {
  const { seedLength, ...rest } = header;
  const isWhole = seedLength === undefined || seedLength <= length;
  return { header: isWhole ? header : rest, events: events.slice(0, length) };
}

function expectReferenceMessages(log: LogLike): void {
  const fold = referenceFold(log.header, log.events);
  const derived = deriveMessages(ours(log).events);
  expect(derived.map(({ message }) => JSON.stringify(message))).toEqual(
    fold.messages.map((message) => JSON.stringify(message)),
  );
  const surface = fold.surface.filter((seq) => seqsOf(derived).includes(seq));
  expect(seqsOf(derived)).toEqual(surface);
}

describe("deriveMessages", () => {
  it("takes a user message from the data and any other from within", () => {
    const result: SessionEvent = {
      type: "tool/result",
      seq: 2,
      time: 0,
      data: TOOL_RESULT,
      surfaceOp: "append",
    };
    const answered = answer(1, [{ type: "text", text: "" }]);

    const derived = deriveMessages([user(0), answered, result]);

    expect(derived).toEqual([
      { seq: 0, message: user(0).data },
      {
        seq: 1,
        message: {
          ...ASSISTANT_MESSAGE.message,
          content: [{ type: "text", text: "" }],
        },
      },
      { seq: 2, message: TOOL_RESULT.message },
    ]);
  });

  it("gives the message itself, not a copy", () => {
    const event = user(0);

    expect(deriveMessages([event])[0]?.message).toBe(event.data);
  });

  it("leaves out answers without content, which are nodes all the same", () => {
    const events = [user(0), answer(1, []), user(2)];

    expect(seqsOf(deriveMessages(events))).toEqual([0, 2]);
    expect(seqsOf(deriveMessages([...events, replace(3, 1, 2)]))).toEqual([
      0, 3,
    ]);
  });

  it("puts replacements where the range stood, whose order is by position", () => {
    const events = [
      ...[0, 1, 2, 3].map((seq) => user(seq)),
      replace(4, 0, 1),
      user(5),
      replace(6, 4, 2),
    ];

    expect(seqsOf(deriveMessages(events.slice(0, 5)))).toEqual([4, 2, 3]);
    expect(seqsOf(deriveMessages(events))).toEqual([6, 3, 5]);
  });

  it("refuses a replacement of what is not there, and an event without message", () => {
    const empty: SessionEvent = { ...user(1), data: { text: "hi" } };

    expect(() => deriveMessages([user(0), replace(1, 0, 5)])).toThrow(
      LogCorruptError,
    );
    expect(() => deriveMessages([user(0), empty])).toThrow(LogCorruptError);
  });

  it.each(exampleFiles().map((path) => [basename(path), path]))(
    "equals the reference over the example %s",
    (_name, path) => {
      expectReferenceMessages(readLog(path));
    },
  );

  it("equals the reference at every prefix of a log", () => {
    fc.assert(
      fc.property(legalLog(), (log) => {
        for (let length = 0; length <= log.events.length; length += 1)
          expectReferenceMessages(prefixOf(log, length));
      }),
      { numRuns: runs(12) },
    );
  });
});

describe("the message fold", () => {
  it("gives at each event what a fold of the prefix gives, in lists that don't grow", () => {
    fc.assert(
      fc.property(legalLog(), (log) => {
        const { events } = ours(log);
        const fold = createMessageFold();
        const lists = events.map((event) => {
          fold.apply(event);
          return fold.messages();
        });

        for (const [at, list] of lists.entries())
          expect(list).toEqual(deriveMessages(events.slice(0, at + 1)));
      }),
      { numRuns: runs(25) },
    );
  });

  it("takes a hundred thousand messages without copying its list at each (B014)", () => {
    const fold = createMessageFold();
    for (let seq = 0; seq < 100_000; seq += 1) fold.apply(user(seq));

    expect(fold.messages()).toHaveLength(100_000);
  });
});
