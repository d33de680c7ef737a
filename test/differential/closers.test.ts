import { basename } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CLOSER_TYPES,
  closersOf,
  followTurn,
  initOpenTurn,
} from "../../src/events/closers.ts";
import type { SessionEvent } from "../../src/events/event.ts";
import { checkEvent } from "../../src/events/envelope.ts";
import { RuleViolation } from "../../src/events/rule-violation.ts";
import { checkData } from "../../src/events/schemas/check-data.ts";
import { ours } from "../support/derived.ts";
import { ourRefusal } from "../support/differential-ours.ts";
import { referenceRefusal } from "../support/differential-reference.ts";
import { legalLog } from "../support/generated-logs.ts";
import {
  asLog,
  changed,
  legalAttempt,
  type AnyEvent,
} from "../support/illegal-changes.ts";
import { brokenLog } from "../support/illegal-events.ts";
import {
  convertedFiles,
  corpusFiles,
  corpusMissing,
  exampleFiles,
} from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { readLog, type LogLike } from "../support/reference-log.ts";
import { referenceClosers } from "../support/reference.ts";

/** Above every source that a generated event may name. */
const MAX_SEQ = Number.MAX_SAFE_INTEGER;

/** Logs of files that show every way of a turn; the long ones are stopped at no more than this many places. */
const MAX_STOPS = 60;

function closers(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const last = events.at(-1);
  return last === undefined
    ? []
    : closersOf(events.reduce(followTurn, initOpenTurn), last);
}

function texts(events: readonly object[]): readonly string[] {
  return events.map((event) => JSON.stringify(event));
}

/** The law of a repair of the log as a crash leaves it. */
function expectRepair(header: LogLike["header"], events: SessionEvent[]): void {
  const ending = closers(events);
  expect(texts(ending)).toEqual(texts(referenceClosers(events)));
  const repaired = [...events, ...ending];
  expect(closers(repaired)).toEqual([]);
  const log = asLog(repaired.map(legalAttempt));
  expect(ourRefusal(header, log)).toBeNull();
}

describe("a repair", { timeout: 600_000 }, () => {
  it("is that of the reference at any place a generated log may stop, breaks no rule, and finds nothing left to do", () => {
    fc.assert(
      fc.property(
        legalLog(),
        fc.array(fc.nat(), { maxLength: 8 }),
        expectRepairs,
      ),
      { numRuns: runs(200) },
    );
  });

  it("is one that the reference opens", () => {
    fc.assert(
      fc.property(legalLog(), fc.nat(), (log, at) => {
        const { header, events } = ours(log);
        const kept = events.slice(0, at % (events.length + 1));
        const repaired = [...kept, ...closers(kept)].map(legalAttempt);
        expect(referenceRefusal(header, asLog(repaired))).toBeNull();
      }),
      { numRuns: runs(100) },
    );
  });

  it("is that of the reference for logs that an import takes with what they break, too", () => {
    fc.assert(
      fc.property(
        brokenLog({ withEnvelopes: false, maxChanges: 4 }),
        ({ log, changes }) => {
          const events = storable(asLog(changed(log.events, changes)));
          expect(texts(closers(events))).toEqual(
            texts(referenceClosers(events)),
          );
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it("may be told from the last turn's start or end on, of the types that matter alone", () => {
    fc.assert(
      fc.property(legalLog(), fc.nat(), (log, at) => {
        const events = ours(log).events.slice(0, at % (log.events.length + 1));
        const last = events.at(-1);
        if (last === undefined) return;
        const from = events.findLastIndex(({ type }) =>
          ["turn/start", "turn/end"].includes(type),
        );
        const tail = events
          .slice(Math.max(0, from))
          .filter(({ type }) => CLOSER_TYPES.some((wanted) => wanted === type));
        const open = tail.reduce(followTurn, initOpenTurn);
        expect(closersOf(open, last)).toEqual(closers(events));
      }),
      { numRuns: runs(200) },
    );
  });

  it("has recorded logs to be tried on", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    expect(corpusFiles("A").length).toBeGreaterThan(40);
  });

  it.each(
    [...exampleFiles(), ...convertedFiles(), ...corpusFiles("A")].map(
      (file) => [basename(file), file],
    ),
  )("of %s is that of the reference, wherever it stops", (_name, file) => {
    const log = readLog(file);
    const { length } = log.events;
    const stride = Math.max(1, Math.ceil(length / MAX_STOPS));
    const stops = Array.from(
      { length: Math.ceil(length / stride) },
      (_, at) => at * stride,
    );
    expectRepairs(log, stops);
  });
});

function expectRepairs(log: LogLike, stops: readonly number[]): void {
  const { header, events } = ours(log);
  for (const stop of [events.length, ...stops])
    expectRepair(header, events.slice(0, stop % (events.length + 1)));
}

/** The events that are right by themselves, as a log of their own: what stands between them may be anything. */
function storable(events: readonly AnyEvent[]): readonly SessionEvent[] {
  const kept = events.flatMap(({ seq: _seq, ...event }) => {
    try {
      const { type, time, data, ...marks } = checkEvent(event, MAX_SEQ);
      checkData(type, data);
      const { surfaceOp, sourceEventSeqs } = marks;
      return [{ type, time: time ?? 0, data, surfaceOp, sourceEventSeqs }];
    } catch (error) {
      if (!(error instanceof RuleViolation)) throw error;
      return [];
    }
  });
  return kept.map(({ surfaceOp, sourceEventSeqs, ...event }, seq) => ({
    ...event,
    seq,
    ...(surfaceOp === null ? {} : { surfaceOp }),
    ...(sourceEventSeqs === null ? {} : { sourceEventSeqs }),
  }));
}
