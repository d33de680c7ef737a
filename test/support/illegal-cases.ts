/** One wrong event at the end of a legal log, for every kind of wrong there is. */
import fc from "fast-check";
import { legalLog } from "./generated-logs.ts";
import { ASIDE_INSERTS } from "./illegal-asides.ts";
import {
  legalAttempt,
  type AnyEvent,
  type Attempt,
} from "./illegal-changes.ts";
import { DATA_EDITS, edited, ENVELOPE_EDITS } from "./illegal-edits.ts";
import { CORE_INSERTS } from "./illegal-inserts.ts";
import { part, placeBefore } from "./illegal-places.ts";
import type { LogLike, SessionHeaderLike } from "./reference-log.ts";

export interface WrongCase {
  readonly how: string;
  readonly header: SessionHeaderLike;
  readonly attempts: readonly Attempt[];
}

const LOGS: readonly LogLike[] = fc.sample(legalLog(), {
  numRuns: 300,
  seed: 20_261_130,
});

/** Every edit, made to so many events of as many logs. */
export function editCases(each: number): readonly WrongCase[] {
  return [...DATA_EDITS, ...ENVELOPE_EDITS].flatMap((edit, at) => {
    const found = LOGS.flatMap((log) =>
      log.events.flatMap(({ type, seq }) =>
        edit.type === "*" || edit.type === type ? [{ log, seq }] : [],
      ),
    );
    const some = Array.from(
      { length: each },
      (_, which) => found[part(at, which) % found.length],
    );
    return some.flatMap((target) => {
      if (target === undefined) return [];
      const { log, seq } = target;
      const attempt = log.events.slice(seq, seq + 1).map(legalAttempt)[0];
      const event = attempt === undefined ? null : edited(attempt.event, edit);
      return event === null ? [] : [caseOf(log, seq, edit.name, [event])];
    });
  });
}

/** Every event to put in, so many times, each at another place of some log. */
export function insertCases(each: number): readonly WrongCase[] {
  const inserts = Object.entries({ ...CORE_INSERTS, ...ASIDE_INSERTS });
  return inserts.flatMap(([how, make], which) =>
    Array.from({ length: each }, (_, n) => n).flatMap((n) => {
      for (let turn = 0; turn < 20; turn += 1) {
        const chance = part(n * 20 + turn, which);
        const log = LOGS[chance % LOGS.length];
        if (log === undefined) return [];
        const { events } = log;
        const at = part(chance, 1) % (events.length + 1);
        const isLast = part(chance, 2) % 3 === 0;
        const place = placeBefore(events, isLast ? events.length : at);
        const made = make(place, n);
        if (made.length > 0) return [caseOf(log, place.seq, how, made)];
      }
      return [];
    }),
  );
}

function caseOf(
  { header, events }: LogLike,
  at: number,
  how: string,
  made: readonly AnyEvent[],
): WrongCase {
  const wrong = made.map((event) => ({ event, legalSeq: null, how }));
  const before = events.slice(0, at).map(legalAttempt);
  return { how, header, attempts: [...before, ...wrong] };
}
