/** Which request attempt of a step the log is in: retries inside a step are attempts of their own. */
import type { TokenUsage } from "../../events/token-usage.ts";

export interface Attempt {
  /** As the events name them; a log without brackets has attempts too. */
  readonly turn: number | null;
  readonly step: number | null;
  /** From 1 in each step. */
  readonly number: number;
  readonly firstSeq: number;
  /** The report that counts, and where it came from. */
  readonly usage: TokenUsage | null;
  readonly seq: number;
  readonly timeMs: number;
  readonly outcome: "open" | "message" | "failed";
  /** Nothing more of its stream can come; the message it becomes still can. */
  readonly ended: boolean;
  readonly provider: string | null;
  readonly model: string | null;
}

export interface Place {
  readonly turn: number | null;
  readonly step: number | null;
}

/** Where an event of the stream belongs: the attempt in hand, unless that is of another step or over. */
export function attemptFor(
  current: Attempt | null,
  place: Place,
  event: { readonly seq: number; readonly time: number },
  route: { readonly provider: string | null; readonly model: string | null },
): Attempt {
  const isSameStep =
    current !== null &&
    current.turn === place.turn &&
    current.step === place.step;
  if (isSameStep && !current.ended) return current;
  return {
    ...place,
    number: isSameStep ? current.number + 1 : 1,
    firstSeq: event.seq,
    usage: null,
    seq: event.seq,
    timeMs: event.time,
    outcome: "open",
    ended: false,
    provider: route.provider,
    model: route.model,
  };
}

/** The attempt that a message or a failure settles: the one in hand while that is open, even if its stream is over. */
export function attemptToSettle(
  current: Attempt | null,
  place: Place,
  event: { readonly seq: number; readonly time: number },
  route: { readonly provider: string | null; readonly model: string | null },
): Attempt {
  const isOwn = current?.turn === place.turn && current.step === place.step;
  return isOwn && current.outcome === "open"
    ? current
    : attemptFor(current, place, event, route);
}
