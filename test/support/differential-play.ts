/** Plays a log event by event into a session of the reference and into ours, which must agree at each event. */
import { expect } from "vitest";
import { OurSession, type Refusal } from "./differential-ours.ts";
import {
  startReference,
  type LiveReference,
} from "./differential-reference.ts";
import { stricterRule } from "./differential-stricter.ts";
import { Numbering, type AnyEvent, type Attempt } from "./illegal-changes.ts";
import type { SessionHeaderLike } from "./reference-log.ts";

/** An attempt as it was made. */
export interface Played {
  readonly event: AnyEvent;
  readonly how: string | null;
  /** The rule it broke; null when it was taken. */
  readonly rule: string | null;
}

export interface Play {
  /** In order, the taken and the refused. */
  readonly played: readonly Played[];
  readonly taken: readonly Played[];
  readonly refused: readonly Played[];
  readonly session: OurSession;
  /** JSON text of the reference's messages at the end. */
  readonly messages: readonly string[];
}

/**
 * Makes the attempts. What a stricter rule of ours refuses is kept from the reference, so that both stay at the same
 * log however it goes on.
 */
export function playBoth(
  header: SessionHeaderLike,
  attempts: readonly Attempt[],
): Play {
  using theirs = startReference(header);
  const session = new OurSession(header);
  const numbering = new Numbering();
  const played: Played[] = [];
  const disagreements: object[] = [];
  for (const attempt of attempts) {
    const event = numbering.renumber(attempt);
    const refusal = session.append(event);
    const disagreement = disagreed(refusal, event, theirs);
    if (disagreement !== null) disagreements.push(disagreement);
    if (refusal === null) numbering.accept(attempt);
    else numbering.pass(attempt);
    played.push({ event, how: attempt.how, rule: refusal?.rule ?? null });
  }
  expect(disagreements).toEqual([]);
  expect(theirs.length).toBe(session.length);
  expect(theirs.surface).toEqual(session.surface);
  return {
    played,
    taken: played.filter(({ rule }) => rule === null),
    refused: played.filter(({ rule }) => rule !== null),
    session,
    messages: theirs.messages,
  };
}

function disagreed(
  refusal: Refusal | null,
  event: AnyEvent,
  theirs: LiveReference,
): object | null {
  if (refusal === null) {
    const reason = theirs.append(event);
    return reason === null ? null : { event, theirs: reason };
  }
  const isExplained = stricterRule("append", refusal.rule, event) !== null;
  return isExplained || theirs.append(event) !== null
    ? null
    : { event, ours: refusal };
}
