import { describe, expect, it } from "vitest";
import type { NewEvent, SessionEvent } from "../../src/events/event.ts";
import {
  createAttemptFold,
  type RequestAttempt,
} from "../../src/events/request-attempts.ts";
import { deltas } from "../support/events.ts";
import {
  answer,
  compaction,
  finish,
  inPlaceOf,
  retry,
  STEP,
  STEP_END,
  text,
} from "../support/request-events.ts";

const [delta = STEP_END] = deltas(["a"]);
const [failed = STEP_END, started = STEP_END] = retry(1);
const ok = answer([text("ok")]);

/** Attempts of a step whose first event has the seq 0. */
function attemptsOf(
  ...events: readonly NewEvent[]
): readonly (readonly [RequestAttempt["outcome"], number])[] {
  const fold = createAttemptFold(STEP);
  events.every((event, seq) => fold.apply(stored(event, seq)));
  return fold.attempts.map(({ number, outcome, firstSeq }, at) => {
    expect(number).toBe(at + 1);
    return [outcome, firstSeq];
  });
}

function stored(event: NewEvent, seq: number): SessionEvent {
  const copy: SessionEvent = JSON.parse(JSON.stringify(event));
  return { ...copy, seq, time: 0 };
}

describe("the attempts of a step", () => {
  it.each<
    [
      string,
      readonly NewEvent[],
      readonly [RequestAttempt["outcome"], number][],
    ]
  >([
    ["none before anything came", [], []],
    ["one while it streams", [delta, delta], [["open", 0]]],
    ["one when its stream is over", [delta, finish("stop")], [["open", 0]]],
    ["one with its answer", [delta, finish("stop"), ok], [["message", 0]]],
    ["one that was not streamed", [ok], [["message", 0]]],
    ["one that failed", [delta, finish("error")], [["failed", 0]]],
    ["one that the step ended without", [delta, STEP_END], [["failed", 0]]],
    ["nothing after the step", [STEP_END, delta], []],
    [
      "one failure, though it says so twice",
      [finish("error"), failed],
      [["failed", 0]],
    ],
    [
      "two failures that left nothing else",
      [failed, started, failed],
      [
        ["failed", 0],
        ["failed", 2],
      ],
    ],
    [
      "another after a retry began",
      [delta, started, delta],
      [
        ["failed", 0],
        ["open", 2],
      ],
    ],
    [
      "another after a finish",
      [finish("stop"), delta],
      [
        ["failed", 0],
        ["open", 1],
      ],
    ],
    [
      "another after an error, unstreamed",
      [finish("error"), ok],
      [
        ["failed", 0],
        ["message", 1],
      ],
    ],
    [
      "another after a compaction",
      [delta, ...compaction(1, [0]), delta],
      [
        ["failed", 0],
        ["open", 5],
      ],
    ],
    [
      "another after an answer",
      [ok, delta],
      [
        ["message", 0],
        ["open", 1],
      ],
    ],
  ])("are %s", (_what, events, expected) => {
    expect(attemptsOf(...events)).toEqual(expected);
  });

  it("get the answer that cites their chunks, whatever came in between", () => {
    const late = answer([text("ok")], [1, 0]);

    expect(
      attemptsOf(delta, finish("stop"), ...compaction(2, [0]), late),
    ).toEqual([["message", 0]]);
  });

  it("are not told apart by what belongs to another step, or replaces an answer", () => {
    const other = { turn: 1, step: 2 };
    const foreign = [ok, failed, delta].map((event) => ({
      ...event,
      data: { ...Object(event.data), ...other },
    }));

    expect(attemptsOf(delta, ...foreign, inPlaceOf([0], ok))).toEqual([
      ["open", 0],
    ]);
  });
});
