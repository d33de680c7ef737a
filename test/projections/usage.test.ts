import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SessionEvent } from "../../src/events/event.ts";
import { parseHeader } from "../../src/events/header.ts";
import { createAttemptFold } from "../../src/events/request-attempts.ts";
import { usage } from "../../src/projections/usage/projection.ts";
import type { RowValues } from "../../src/projector/row-buffer.ts";
import { ours } from "../support/derived.ts";
import { legalLog } from "../support/generated-logs.ts";
import { runs } from "../support/property-runs.ts";
import { pureFold } from "../support/pure-fold.ts";

const place = { turn: 1, step: 1 };
const header = (seedLength?: number) =>
  parseHeader({
    version: 0,
    id: "s",
    createdAt: 1,
    delegationDepth: 0,
    ...(seedLength === undefined ? {} : { seedLength }),
  });

/** Usage rows of a log, given as types and data. */
function usageOf(
  log: readonly (readonly [type: string, data: object])[],
  seedLength?: number,
): readonly RowValues[] {
  const events: SessionEvent[] = log.map(([type, data], seq) => ({
    type,
    seq,
    time: seq,
    data: JSON.parse(JSON.stringify(data)),
  }));
  return pureFold(usage, header(seedLength), events)["usage"] ?? [];
}

const turnStart = ["turn/start", { turn: 1 }] as const;
const stepStart = ["step/start", place] as const;
const requestHeader = [
  "request/header",
  { header: { config: { provider: "p", model: "m" } }, reason: "initial" },
] as const;
const chunk = (inner: object) =>
  ["assistant/chunk", { ...place, chunk: inner }] as const;
const reported = (inputTokens: unknown, outputTokens: unknown = 0) =>
  chunk({ type: "usage", usage: { inputTokens, outputTokens } });
const finish = (kind: string) => chunk({ type: "finish", reason: { kind } });
const answer = (usageReport?: object) => {
  const message = {
    id: "a",
    role: "assistant",
    content: [],
    source: { kind: "model", provider: "p", model: "n" },
  };
  return [
    "assistant/message",
    {
      ...place,
      message,
      ...(usageReport === undefined ? {} : { usage: usageReport }),
    },
  ] as const;
};
const retry = [
  "llm/retry",
  {
    ...place,
    retryId: "r",
    provider: "p",
    mode: "normal",
    policyKey: "k",
    retry: 1,
    delayMs: 0,
    failure: {},
  },
] as const;
const retryStarted = [
  "llm/retry-started",
  { ...place, retryId: "r", retry: 1 },
] as const;
const stepEnd = ["step/end", place] as const;

describe("usage", () => {
  it("counts a request once when chunk and message both report it", () => {
    const rows = usageOf([
      turnStart,
      stepStart,
      requestHeader,
      reported(3, 1),
      finish("stop"),
      answer({ inputTokens: 3, outputTokens: 1 }),
    ]);

    expect(rows).toMatchObject([
      {
        kind: "request",
        attempt: 1,
        input_tokens: 3,
        output_tokens: 1,
        model: "n",
        seq: 5,
      },
    ]);
  });

  it("takes the last of several reports of one attempt (B047)", () => {
    const rows = usageOf([
      turnStart,
      stepStart,
      reported(1, 10),
      reported(1, 50),
      reported(1, 100),
      answer(),
    ]);

    expect(rows).toMatchObject([{ output_tokens: 100 }]);
  });

  it("keeps what a failed attempt had cost beside its retry", () => {
    const rows = usageOf([
      turnStart,
      stepStart,
      requestHeader,
      reported(10, 5),
      finish("error"),
      retry,
      retryStarted,
      reported(12, 3),
      answer({ inputTokens: 12, outputTokens: 3 }),
    ]);

    expect(rows).toMatchObject([
      {
        attempt: 1,
        kind: "failed",
        input_tokens: 10,
        output_tokens: 5,
        provider: "p",
        model: "m",
      },
      {
        attempt: 2,
        kind: "request",
        input_tokens: 12,
        output_tokens: 3,
        model: "n",
      },
    ]);
  });

  it("keeps what an attempt had cost that a compaction inside its step came after", () => {
    const rows = usageOf([
      turnStart,
      stepStart,
      requestHeader,
      reported(100),
      finish("error"),
      ["compaction/start", { compactionId: "c", turn: 1 }],
      [
        "compaction/summary",
        {
          compactionId: "c",
          provider: "p",
          model: "s",
          usage: { inputTokens: 20_000, outputTokens: 1_000 },
        },
      ],
      answer({ inputTokens: 7, outputTokens: 1 }),
    ]);

    expect(
      rows.map((row) => [row["kind"], row["attempt"], row["input_tokens"]]),
    ).toEqual([
      ["failed", 1, 100],
      ["compaction", null, 20_000],
      ["request", 2, 7],
    ]);
  });

  it("counts a compaction apart from the conversation (B045)", () => {
    const rows = usageOf([
      [
        "compaction/summary",
        {
          compactionId: "c",
          provider: "p",
          model: "s",
          usage: { inputTokens: 20_000, outputTokens: 1_000 },
        },
      ],
    ]);

    expect(rows).toMatchObject([
      {
        kind: "compaction",
        turn: null,
        attempt: null,
        model: "s",
        input_tokens: 20_000,
      },
    ]);
  });

  it("knows an attempt that reported nothing, with unknown usage rather than none", () => {
    expect(usageOf([turnStart, stepStart, answer()])).toMatchObject([
      { kind: "request", input_tokens: null, flagged: false },
    ]);
    expect(usageOf([turnStart, stepStart, requestHeader, retry])).toMatchObject(
      [{ kind: "failed", input_tokens: null }],
    );
  });

  it("calls an attempt failed when its step ends without an answer", () => {
    expect(usageOf([turnStart, stepStart, reported(4), stepEnd])).toMatchObject(
      [{ kind: "failed", input_tokens: 4 }],
    );
  });

  it.each([[-3], [1.5], [1e30], ["12"], [true]])(
    "flags a count of %j and leaves it out (B062)",
    (count) => {
      expect(usageOf([turnStart, stepStart, reported(count, 5)])).toMatchObject(
        [{ flagged: true, input_tokens: null, output_tokens: 5 }],
      );
    },
  );

  it("takes null for a count that is not known (B062)", () => {
    expect(usageOf([turnStart, stepStart, reported(null, 5)])).toMatchObject([
      { flagged: false, input_tokens: null },
    ]);
  });

  it("marks what a fork has from its parent, and keeps the original time (B054, B055)", () => {
    const log = [
      turnStart,
      stepStart,
      reported(100),
      answer(),
      stepEnd,
      ["turn/end", { turn: 1, reason: { kind: "completed" } }],
    ] as const;
    const own = [
      ["session/end-seed", {}],
      ["turn/start", { turn: 2 }],
      ["step/start", { turn: 2, step: 1 }],
    ] as const;
    const [inherited, later] = usageOf(
      [
        ...log,
        ...own,
        [
          "assistant/chunk",
          {
            turn: 2,
            step: 1,
            chunk: { type: "usage", usage: { inputTokens: 50 } },
          },
        ],
      ],
      log.length,
    );

    expect(inherited).toMatchObject({
      inherited: true,
      input_tokens: 100,
      time_ms: 2,
    });
    expect(later).toMatchObject({ inherited: false, input_tokens: 50 });
  });

  it("numbers attempts as requests are numbered", () => {
    fc.assert(
      fc.property(legalLog(), (log) => {
        const { header: given, events } = ours(log);
        const rows = pureFold(usage, given, events)["usage"] ?? [];
        for (const row of rows.filter(({ kind }) => kind !== "compaction")) {
          const [turn, step] = [Number(row["turn"]), Number(row["step"])];
          const fold = createAttemptFold({ turn, step });
          const start = events.findIndex(
            ({ type, data }) => type === "step/start" && isAt(data, turn, step),
          );
          events.slice(start + 1).every((event) => fold.apply(event));
          expect(fold.attempts.map(({ number }) => number)).toContain(
            row["attempt"],
          );
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

function isAt(data: SessionEvent["data"], turn: number, step: number): boolean {
  return JSON.stringify(data) === JSON.stringify({ turn, step });
}
