import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveMessages } from "../../src/events/derive-messages.ts";
import { headerOf } from "../../src/events/request-header.ts";
import { EMPTY_SURFACE } from "../../src/events/surface.ts";
import { placed } from "../support/differential-ours.ts";
import { playBoth } from "../support/differential-play.ts";
import { openReference } from "../support/differential-reference.ts";
import { ours } from "../support/derived.ts";
import { besides } from "../support/illegal-changes.ts";
import { brokenLog } from "../support/illegal-events.ts";
import { runs } from "../support/property-runs.ts";

const logAndCuts = fc.record({
  broken: brokenLog({ withEnvelopes: false, maxChanges: 4 }),
  cuts: fc.array(fc.nat(), { maxLength: 3 }),
});

describe(
  "what is derived from the events that both take",
  { timeout: 600_000 },
  () => {
    it("is the same surface, messages and request header, at the end and at any event before it", () => {
      fc.assert(
        fc.property(logAndCuts, ({ broken: { log, changes }, cuts }) => {
          const { header } = log;
          const { taken } = playBoth(header, besides(log.events, changes));
          const events = taken.map(({ event }, seq) => ({
            seq,
            time: 0,
            data: null,
            ...event,
          }));
          const ends = cuts.map((cut) => cut % (events.length + 1));
          for (const end of [events.length, ...ends]) {
            const prefix = events.slice(0, end);
            using theirs = openReference(header, prefix);
            expect(derivedByUs({ header, events: prefix })).toEqual({
              surface: theirs.surface,
              messages: theirs.messages,
              requestHeader: theirs.requestHeader,
            });
          }
        }),
        { numRuns: runs(150) },
      );
    });
  },
);

function derivedByUs(log: Parameters<typeof ours>[0]) {
  const { events } = ours(log);
  const surface = events.reduce(
    (before, { seq, surfaceOp = null }) => placed(before, seq, surfaceOp),
    EMPTY_SURFACE,
  );
  const header = events.findLast(({ type }) => type === "request/header");
  return {
    surface: surface.seqs,
    messages: deriveMessages(events).map(({ message }) =>
      JSON.stringify(message),
    ),
    requestHeader: header === undefined ? null : headerOf(header.data),
  };
}
