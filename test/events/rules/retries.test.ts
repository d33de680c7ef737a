import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../../src/events/event.ts";
import { openStep } from "../../support/events.ts";
import {
  type Case,
  expectOnlyBadToBeRefused,
  findingsOf,
} from "../../support/rules.ts";

/** Seqs 0 to 2. */
const ASKED = [...openStep(), header("p")];
const FIRST = [...ASKED, retry(1)];
const OTHER = { policyKey: "other", retryId: "s" };

describe("a retry", () => {
  it("is scheduled and begun, again and again, in chains of provider and policy", () => {
    expect(
      findingsOf([
        ...FIRST,
        started(1),
        retry(2),
        started(2),
        retry(1, OTHER),
        started(1, { retryId: "s" }),
        retry(3),
        header("q"),
        retry(1, { provider: "q", retryId: "t" }),
      ]),
    ).toEqual([]);
  });

  it("may be scheduled again before it has begun", () => {
    expect(findingsOf([...FIRST, retry(2), started(2)])).toEqual([]);
  });

  it("has no limit in mode always", () => {
    const retries = [1, 2, 3].map((number) =>
      retry(number, { mode: "always" }),
    );

    expect(findingsOf([...ASKED, ...retries])).toEqual([]);
  });

  it.each<Case>([
    [
      "is of the provider that was asked last",
      [...ASKED, header("q")],
      retry(1),
      "retry-chain",
      "data.provider",
      retry(1, { provider: "q" }),
    ],
    [
      "needs a request before it",
      openStep(),
      retry(1),
      "retry-chain",
      "data.provider",
      header("p"),
    ],
    [
      "is the first of its chain",
      ASKED,
      retry(2),
      "retry-chain",
      "data.retry",
      retry(1),
    ],
    [
      "is not counted twice",
      FIRST,
      retry(1),
      "retry-chain",
      "data.retry",
      retry(2),
    ],
    [
      "leaves no number out",
      FIRST,
      retry(3),
      "retry-chain",
      "data.retry",
      retry(2),
    ],
    [
      "is counted from 1 under each policy",
      FIRST,
      retry(2, OTHER),
      "retry-chain",
      "data.retry",
      retry(1, OTHER),
    ],
    [
      "keeps the id of its chain",
      FIRST,
      retry(2, { retryId: "s" }),
      "retry-chain",
      "data.retryId",
      retry(2),
    ],
    [
      "does not have the id of another chain",
      FIRST,
      retry(1, { policyKey: "other" }),
      "retry-chain",
      "data.retryId",
      retry(1, OTHER),
    ],
    [
      "is within the most of its policy",
      [...ASKED, retry(1, { maxRetries: 1 })],
      retry(2, { maxRetries: 1 }),
      "retry-chain",
      "data.retry",
      retry(2, { maxRetries: 2 }),
    ],
    [
      "is counted from 1 again in the next step",
      [...FIRST, stepEnd(), nextStep()],
      inStep(2, retry(2)),
      "retry-chain",
      "data.retry",
      inStep(2, retry(1)),
    ],
    [
      "stands in the step it names",
      [...ASKED, stepEnd()],
      retry(1),
      "outside-step",
      "data",
      nextStep(),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });
});

describe("a retry that begins", () => {
  it.each<Case>([
    [
      "was scheduled",
      ASKED,
      started(1),
      "retry-chain",
      "data.retryId",
      retry(1),
    ],
    [
      "was scheduled under its id",
      FIRST,
      started(1, { retryId: "s" }),
      "retry-chain",
      "data.retryId",
      started(1),
    ],
    [
      "was scheduled under its number",
      FIRST,
      started(2),
      "retry-chain",
      "data.retryId",
      started(1),
    ],
    [
      "begins once",
      [...FIRST, started(1)],
      started(1),
      "retry-chain",
      "data.retryId",
      retry(2),
    ],
    [
      "was scheduled in the same step",
      [...FIRST, stepEnd(), nextStep()],
      inStep(2, started(1)),
      "retry-chain",
      "data.retryId",
      inStep(2, retry(1)),
    ],
    [
      "begins in the step it names",
      [...FIRST, stepEnd()],
      started(1),
      "outside-step",
      "data",
      nextStep(),
    ],
  ])("%s", (...given) => {
    expectOnlyBadToBeRefused(...given);
  });
});

describe("one slip in a chain of retries is one finding", () => {
  it("of a number left out", () => {
    const log = [...FIRST, retry(3), started(3), retry(4)];

    expect(findingsOf(log).map(([seq]) => seq)).toEqual([4]);
  });
});

function header(provider: string): NewEvent {
  const config = { provider, model: "x" };
  return {
    type: "request/header",
    data: { header: { config }, reason: "change" },
  };
}

function retry(number: number, more: object = {}): NewEvent {
  const policy = { provider: "p", mode: "normal", policyKey: "default" };
  const failure = { message: "gone", code: "TRANSPORT" };
  const data = { retryId: "r", turn: 1, step: 1, retry: number };
  return {
    type: "llm/retry",
    data: { ...data, ...policy, delayMs: 0, failure, ...more },
  };
}

function started(number: number, more: object = {}): NewEvent {
  const data = { retryId: "r", turn: 1, step: 1, retry: number, ...more };
  return { type: "llm/retry-started", data };
}

function stepEnd(): NewEvent {
  return { type: "step/end", data: { turn: 1, step: 1 } };
}

function nextStep(): NewEvent {
  return { type: "step/start", data: { turn: 1, step: 2 } };
}

function inStep(step: number, event: NewEvent): NewEvent {
  return { ...event, data: Object.assign({}, event.data, { step }) };
}
