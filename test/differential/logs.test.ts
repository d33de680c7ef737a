import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ourRefusal } from "../support/differential-ours.ts";
import { referenceRefusal } from "../support/differential-reference.ts";
import {
  FOLDS_THAT_FAIL,
  STRICTER_RULES,
  stricterRule,
} from "../support/differential-stricter.ts";
import { legalLog } from "../support/generated-logs.ts";
import {
  asLog,
  changed,
  legalAttempt,
  type AnyEvent,
} from "../support/illegal-changes.ts";
import { editCases, insertCases } from "../support/illegal-cases.ts";
import { brokenLog, type BrokenLog } from "../support/illegal-events.ts";
import { runs } from "../support/property-runs.ts";
import type { LogLike } from "../support/reference-log.ts";
import { referenceContext, referenceInvariants } from "../support/reference.ts";

const anyBrokenLog = brokenLog({ withEnvelopes: true, maxChanges: 2 });

describe("whole logs", { timeout: 600_000 }, () => {
  it("that a session of the reference leaves are taken by both", () => {
    fc.assert(
      fc.property(legalLog(), ({ header, events }) => {
        const log = asLog(events.map(legalAttempt));
        expect(referenceRefusal(header, log)).toBeNull();
        expect(ourRefusal(header, log)).toBeNull();
      }),
      { numRuns: runs(200) },
    );
  });

  it("that are broken are taken and refused as by the reference, or more strictly", () => {
    fc.assert(
      fc.property(anyBrokenLog, ({ log, changes }) => {
        const events = asLog(changed(log.events, changes));
        expect(disagreement(log.header, events)).toBeNull();
      }),
      { numRuns: runs(700) },
    );
  });

  it.each([
    ["edited", editCases(runs(5))],
    ["put in", insertCases(runs(60))],
  ])(
    "that end with an event that was %s are taken and refused as by the reference, or more strictly",
    (_how, cases) => {
      const wrong = cases.flatMap(({ how, header, attempts }) => {
        const found = disagreement(header, asLog(attempts));
        return found === null ? [] : [{ how, found }];
      });
      expect(wrong).toEqual([]);
    },
  );

  it("that we take make a fold of the reference fail in known cases only", () => {
    fc.assert(
      fc.property(anyBrokenLog, (broken) => {
        const failure = foldFailure(broken) ?? "";
        const isKnown = FOLDS_THAT_FAIL.some(({ message }) =>
          message.test(failure),
        );
        expect(isKnown ? "" : failure).toBe("");
      }),
      { numRuns: runs(400) },
    );
  });

  it.each(STRICTER_RULES.filter(({ where }) => where !== "append"))(
    "are refused by the rule $rule where the reference has none: $why",
    (rule) => {
      expect(needed.has(rule)).toBe(true);
    },
  );
});

/** What one of us takes and the other refuses without a documented reason; null when there is nothing of that. */
function disagreement(
  header: LogLike["header"],
  events: readonly AnyEvent[],
): object | null {
  const ours = ourRefusal(header, events);
  const theirs = referenceRefusal(header, events);
  if (ours === null) return theirs === null ? null : { theirs };
  const event = events[ours.at] ?? { type: "" };
  const isExplained = stricterRule("log", ours.rule, event) !== null;
  return theirs !== null || isExplained ? null : { ours };
}

/** What the reference says when it folds a log that we take; null where it folds it, or where we don't take it. */
function foldFailure({ log, changes }: BrokenLog): string | null {
  const { header } = log;
  const events = asLog(changed(log.events, changes));
  if (ourRefusal(header, events) !== null) return null;
  try {
    referenceInvariants(header, events);
    referenceContext(events);
    return null;
  } catch (error) {
    return String(error instanceof Error ? error.message : error);
  }
}

/** Stricter rules that stand between us and the reference in some log. */
const needed = new Set(
  [...editCases(4), ...insertCases(40)].flatMap(({ header, attempts }) => {
    const events = asLog(attempts);
    const ours = ourRefusal(header, events);
    const event = events[ours?.at ?? -1];
    if (ours === null || event === undefined) return [];
    const rule = stricterRule("log", ours.rule, event);
    const isAlone = rule !== null && referenceRefusal(header, events) === null;
    return isAlone ? [rule] : [];
  }),
);
