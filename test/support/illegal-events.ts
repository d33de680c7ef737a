/** Logs that break a rule: a legal one, changed in one place or in a few. Some changes are legal too, and that is meant. */
import fc from "fast-check";
import { legalLog } from "./generated-logs.ts";
import { ASIDE_INSERTS } from "./illegal-asides.ts";
import { legalAttempt, type AnyEvent, type Change } from "./illegal-changes.ts";
import {
  DATA_EDITS,
  edited,
  ENVELOPE_EDITS,
  type Edit,
} from "./illegal-edits.ts";
import { CORE_INSERTS } from "./illegal-inserts.ts";
import { placeBefore } from "./illegal-places.ts";
import type { EventLike, LogLike } from "./reference-log.ts";

export interface BrokenLog {
  readonly log: LogLike;
  readonly changes: readonly Change[];
}

export interface BrokenLogOptions {
  /** Whether what only a stored log can have wrong is among the changes. */
  readonly withEnvelopes: boolean;
  readonly maxChanges: number;
}

/** A legal log and changes to it. */
export function brokenLog({
  withEnvelopes,
  maxChanges,
}: BrokenLogOptions): fc.Arbitrary<BrokenLog> {
  const move = withEnvelopes
    ? fc.oneof(
        { weight: 8, arbitrary: anyMove },
        { weight: 1, arbitrary: editOf(ENVELOPE_EDITS) },
      )
    : anyMove;
  return fc
    .record({
      log: legalLog(),
      moves: fc.array(move, { minLength: 1, maxLength: maxChanges }),
    })
    .map(({ log, moves }) => ({
      log,
      changes: moves.flatMap((play) => play(log.events) ?? []),
    }));
}

type Move = (events: readonly EventLike[]) => Change | null;

const inserts = Object.entries({ ...CORE_INSERTS, ...ASIDE_INSERTS });

const insertMove: fc.Arbitrary<Move> = fc
  .record({
    insert: fc.constantFrom(...inserts),
    at: fc.nat(),
    n: fc.nat({ max: 1_000 }),
  })
  .map(({ insert: [name, make], at, n }): Move => {
    return (events) => {
      const place = placeBefore(events, at % (events.length + 1));
      const made = make(place, n);
      if (made.length === 0) return null;
      return changeOf(
        place.seq,
        0,
        made.map((event) => [event, null, `${name} (${n})`]),
      );
    };
  });

/** Events that stay, go, or change their places. */
const ORDERS: Readonly<Record<string, readonly number[]>> = {
  dropped: [],
  doubled: [0, 0],
  swapped: [1, 0],
  "moved behind the next two": [1, 2, 0],
};

const orderMove: fc.Arbitrary<Move> = fc
  .record({ order: fc.constantFrom(...Object.entries(ORDERS)), at: fc.nat() })
  .map(({ order: [how, order], at }): Move => {
    return (events) => {
      const from = at % Math.max(events.length, 1);
      const removed = Math.max(1, ...order.map((offset) => offset + 1));
      const taken = events.slice(from, from + removed).map(legalAttempt);
      if (taken.length < removed) return null;
      const made = order.flatMap((offset, place) => {
        const attempt = taken[offset];
        const isFirst = order.indexOf(offset) === place;
        if (attempt === undefined) return [];
        return [
          [attempt.event, isFirst ? attempt.legalSeq : null, how],
        ] as const;
      });
      return changeOf(from, removed, made);
    };
  });

const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 5, arbitrary: insertMove },
  { weight: 5, arbitrary: editOf(DATA_EDITS) },
  { weight: 2, arbitrary: orderMove },
);

function editOf(table: readonly Edit[]): fc.Arbitrary<Move> {
  return fc
    .record({ edit: fc.constantFrom(...table), at: fc.nat() })
    .map(({ edit, at }): Move => {
      return (events) => {
        const fits = events.filter(
          ({ type }) => edit.type === "*" || edit.type === type,
        );
        const target = fits[at % fits.length];
        if (target === undefined) return null;
        const event = edited(legalAttempt(target).event, edit);
        return event === null
          ? null
          : changeOf(target.seq, 1, [[event, target.seq, edit.name]]);
      };
    });
}

function changeOf(
  at: number,
  removed: number,
  made: readonly (readonly [AnyEvent, number | null, string])[],
): Change {
  const attempts = made.map(([event, legalSeq, how]) => ({
    event,
    legalSeq,
    how,
  }));
  return { at, removed, attempts };
}
