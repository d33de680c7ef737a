import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveMessages } from "../../src/events/derive-messages.ts";
import { OurSession } from "../support/differential-ours.ts";
import { playBoth } from "../support/differential-play.ts";
import { startReference } from "../support/differential-reference.ts";
import {
  STRICTER_RULES,
  stricterRule,
} from "../support/differential-stricter.ts";
import { ours } from "../support/derived.ts";
import { editCases, insertCases } from "../support/illegal-cases.ts";
import { besides, changed, Numbering } from "../support/illegal-changes.ts";
import { brokenLog } from "../support/illegal-events.ts";
import { runs } from "../support/property-runs.ts";

const anyBrokenLog = brokenLog({ withEnvelopes: false, maxChanges: 10 });

describe("appends, one event after another", { timeout: 600_000 }, () => {
  it("are taken and refused as by a live session of the reference, or more strictly", () => {
    fc.assert(
      fc.property(anyBrokenLog, ({ log, changes }) => {
        playBoth(log.header, changed(log.events, changes));
      }),
      { numRuns: runs(250) },
    );
  });

  it("leave both as they were when they are refused, so that the rest of the log goes in", () => {
    fc.assert(
      fc.property(anyBrokenLog, ({ log, changes }) => {
        const { taken, refused } = playBoth(
          log.header,
          besides(log.events, changes),
        );
        const isUntouched = taken.every(({ how }) => how === null);
        const lost = refused.filter(({ how }) => how === null);
        expect(isUntouched ? lost : []).toEqual([]);
      }),
      { numRuns: runs(250) },
    );
  });

  it("leave the same state, surface and messages as a log that was never tried to be broken", () => {
    fc.assert(
      fc.property(anyBrokenLog, ({ log, changes }) => {
        const { header } = log;
        const { taken, session, messages } = playBoth(
          header,
          besides(log.events, changes),
        );
        const quiet = new OurSession(header);
        for (const { event } of taken) quiet.append(event);
        expect(session.state).toEqual(quiet.state);
        expect(session.surface).toEqual(quiet.surface);
        const events = taken.map(({ event }, seq) => ({
          seq,
          time: 0,
          data: null,
          ...event,
        }));
        const derived = deriveMessages(ours({ header, events }).events);
        expect(derived.map(({ message }) => JSON.stringify(message))).toEqual(
          messages,
        );
      }),
      { numRuns: runs(100) },
    );
  });

  it.each(STRICTER_RULES.filter(({ where }) => where !== "log"))(
    "are refused by the rule $rule where the reference has none: $why",
    (rule) => {
      expect(needed.has(rule)).toBe(true);
    },
  );
});

/** Stricter rules that stand between us and the reference at some append. */
const needed = new Set(
  insertCases(25)
    .concat(editCases(1))
    .flatMap(({ header, attempts }) => {
      using theirs = startReference(header);
      const session = new OurSession(header);
      const numbering = new Numbering();
      for (const attempt of attempts) {
        const event = numbering.renumber(attempt);
        const refusal = session.append(event);
        const isTaken = theirs.append(event) === null;
        if (refusal === null) numbering.accept(attempt);
        else numbering.pass(attempt);
        // From here on the two logs differ.
        if (refusal !== null && isTaken)
          return stricterRule("append", refusal.rule, event) ?? [];
      }
      return [];
    }),
);
