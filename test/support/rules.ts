/** Breaks one rule of a log at a time. */
import { expect } from "vitest";
import type { NewEvent } from "../../src/events/event.ts";
import { LogChecker } from "../../src/events/rules/log-checker.ts";

/** A log that breaks nothing, an event that breaks one rule of it, and one that does not. */
export type Case = [
  what: string,
  log: readonly NewEvent[],
  bad: NewEvent,
  rule: string,
  path: string,
  good: NewEvent,
];

/** The bad event is the only finding, it leaves the state before it alone, and its legal neighbour passes. */
export function expectOnlyBadToBeRefused(
  ...[, log, bad, rule, path, good]: Case
): void {
  const checker = new LogChecker({});
  for (const event of log) checker.add(event);
  const before = structuredClone(checker.state);
  const { state } = checker;

  expect(findingsOf([...log, bad])).toEqual([[log.length, rule, path]]);
  checker.add(bad);
  expect(state).toEqual(before);
  expect(findingsOf([...log, good])).toEqual([]);
}

/** What the log breaks: seq, rule and path. */
export function findingsOf(
  log: readonly NewEvent[],
  header: { readonly seedLength?: number } = {},
): [number, string, string][] {
  const checker = new LogChecker(header);
  return log.flatMap((event, seq) =>
    checker
      .add(event)
      .violations.map(({ rule, path }): [number, string, string] => [
        seq,
        rule,
        path,
      ]),
  );
}
