import { describe, expect, it } from "vitest";
import type { NewEvent, SessionEvent } from "../../src/events/event.ts";
import {
  createTranscriptFold,
  type TranscriptItem,
} from "../../src/events/transcript.ts";
import { note, prompt } from "../support/events.ts";
import { compaction, inPlaceOf, OPENING } from "../support/request-events.ts";

function itemsOf(events: readonly NewEvent[]): (TranscriptItem | null)[] {
  const fold = createTranscriptFold();
  return events.map((event, seq) => {
    const copy: SessionEvent = JSON.parse(JSON.stringify(event));
    return fold.apply({ ...copy, seq, time: 5 });
  });
}

function kindsOf(events: readonly NewEvent[]): unknown[] {
  return itemsOf(events).map((item) => item?.kind ?? null);
}

describe("the transcript fold", () => {
  const [start = note(), summary = note(), checkpoint = note(), end = note()] =
    compaction(3, [2]);

  it("gives a message as it is, and nothing for what only the machine needs", () => {
    const [, , item, other] = itemsOf([...OPENING, note()]);

    expect(item).toEqual({
      kind: "message",
      seq: 2,
      timeMs: 5,
      type: "user/message",
      message: prompt("hi").data,
      interrupted: false,
    });
    expect(other).toBeNull();
  });

  it("knows a checkpoint by the summary it names, also when something slipped in", () => {
    const between = [start, summary, note(), checkpoint, end];

    expect(kindsOf([...OPENING, ...between]).slice(3)).toEqual([
      null,
      null,
      null,
      "compaction",
      null,
    ]);
  });

  it("takes no other replacement for a compaction", () => {
    const refresh = inPlaceOf([2], prompt("again"));
    const events = [start, summary, checkpoint, end, refresh];

    expect(kindsOf([...OPENING, refresh])).toEqual([
      null,
      null,
      "message",
      null,
    ]);
    expect(kindsOf([...OPENING, ...events]).at(-1)).toBeNull();
  });
});
