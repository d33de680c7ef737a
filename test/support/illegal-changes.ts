/** Changes of a legal log that may break it: which events go, and which are tried in their place. */
import type { EventLike } from "./reference-log.ts";

/** An event that may be wrong in any way. Its seqs are those of the legal log; it has no seq of its own unless that is what is wrong. */
export type AnyEvent = Readonly<Record<string, unknown>> & {
  readonly type: string;
};

/** An event to try. */
export interface Attempt {
  readonly event: AnyEvent;
  /** Seq in the legal log of the event it is or comes from; null for one that was put in. */
  readonly legalSeq: number | null;
  /** What was done to it; null for an event of the legal log. */
  readonly how: string | null;
}

/** Replaces `removed` events from `at` on. */
export interface Change {
  readonly at: number;
  readonly removed: number;
  readonly attempts: readonly Attempt[];
}

/** A legal event as an attempt. */
export function legalAttempt(event: EventLike): Attempt {
  const { seq, ...rest } = event;
  return { event: rest, legalSeq: seq, how: null };
}

/** The log with the changes made; where changes overlap, the later one is left out. */
export function changed(
  events: readonly EventLike[],
  changes: readonly Change[],
): readonly Attempt[] {
  const attempts: Attempt[] = [];
  let next = 0;
  for (const change of changes.toSorted((a, b) => a.at - b.at)) {
    if (change.at < next) continue;
    attempts.push(...events.slice(next, change.at).map(legalAttempt));
    attempts.push(...change.attempts);
    next = change.at + change.removed;
  }
  return [...attempts, ...events.slice(next).map(legalAttempt)];
}

/** The log with the changed events before the legal ones, and none removed. */
export function besides(
  events: readonly EventLike[],
  changes: readonly Change[],
): readonly Attempt[] {
  const extra = changes.map(({ at, attempts }) => ({
    at,
    removed: 0,
    attempts: attempts
      .filter(({ how }) => how !== null)
      .map((attempt) => ({ ...attempt, legalSeq: null })),
  }));
  return changed(events, extra);
}

/** Gives attempts their seqs in the log that grows out of them. */
export class Numbering {
  readonly #placed = new Map<number, number>();
  #legalNext = 0;
  #next = 0;

  get next(): number {
    return this.#next;
  }

  /** The event with all its seqs as they are in this log; one that stands nowhere stays what it is. */
  renumber({ event }: Attempt): AnyEvent {
    const numbered: { type: string; [key: string]: unknown } = { ...event };
    if ("surfaceOp" in event)
      numbered["surfaceOp"] = this.#inside(event["surfaceOp"]);
    if ("sourceEventSeqs" in event)
      numbered["sourceEventSeqs"] = this.#seqs(event["sourceEventSeqs"]);
    if (isRecord(event["data"])) numbered["data"] = this.#data(event["data"]);
    return numbered;
  }

  /** Notes that the attempt is the next event of this log. */
  accept({ legalSeq }: Attempt): void {
    if (legalSeq !== null) this.#placed.set(legalSeq, this.#next);
    this.#next += 1;
    this.pass({ legalSeq });
  }

  /** Notes that the attempt was refused. */
  pass({ legalSeq }: Pick<Attempt, "legalSeq">): void {
    if (legalSeq !== null)
      this.#legalNext = Math.max(this.#legalNext, legalSeq + 1);
  }

  #data(data: Readonly<Record<string, unknown>>): object {
    const moved = { ...data };
    for (const key of ["shadowedSeqs", "messageSeqs"])
      if (key in data) moved[key] = this.#seqs(data[key]);
    if ("shadowedRange" in data)
      moved["shadowedRange"] = this.#inside(data["shadowedRange"]);
    if ("sourceEventSeq" in data)
      moved["sourceEventSeq"] = this.#seq(data["sourceEventSeq"]);
    return moved;
  }

  #inside(range: unknown): unknown {
    if (!isRecord(range)) return range;
    const moved = { ...range };
    for (const key of ["start", "end"])
      if (key in range) moved[key] = this.#seq(range[key]);
    return moved;
  }

  #seqs(list: unknown): unknown {
    return Array.isArray(list)
      ? Array.from(list, (seq: unknown) => this.#seq(seq))
      : list;
  }

  #seq(seq: unknown): unknown {
    if (typeof seq !== "number" || Object.is(seq, -0)) return seq;
    const placed = this.#placed.get(seq);
    if (placed !== undefined) return placed;
    return seq >= this.#legalNext ? seq - this.#legalNext + this.#next : seq;
  }
}

/** The attempts as one log, all of them numbered as if each was accepted. */
export function asLog(attempts: readonly Attempt[]): readonly AnyEvent[] {
  const numbering = new Numbering();
  return attempts.map((attempt) => {
    const event = numbering.renumber(attempt);
    const seq = numbering.next;
    numbering.accept(attempt);
    return { seq, ...event };
  });
}

export function isRecord(
  value: unknown,
): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
