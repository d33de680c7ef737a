/**
 * A log under construction, as the generated moves see it. Every append keeps the state after it, so that a crash
 * can rewind the log to any earlier length.
 */

import { priceOf, type Block } from "./generated-messages.ts";
import type { Tick } from "./generated-values.ts";
import type { EventLike, SurfaceOpLike } from "./reference-log.ts";

/** A message that stands on the surface. */
export interface SurfaceNode {
  readonly seq: number;
  /** Heuristic size of its message, in tokens. */
  readonly price: number;
  /** Turn and step of an assistant message or a tool result; a compaction does not part such a group. */
  readonly group: string | null;
  /** The payload of a tool result, which a prune may shorten. */
  readonly result: ToolResultData | null;
}

/** Payload of a tool/result event. */
export interface ToolResultData {
  readonly turn: number;
  readonly step: number;
  readonly message: {
    readonly id: string;
    readonly role: "user";
    readonly source: { readonly kind: "tool"; readonly callId: string };
    readonly content: readonly [Extract<Block, { type: "tool-result" }>];
  };
  readonly error?: { readonly name: string; readonly code: string };
  readonly meta?: unknown;
}

/** What the events so far amount to. */
interface LogState {
  readonly timeMs: number;
  readonly surface: readonly SurfaceNode[];
  readonly turn: number | null;
  readonly step: number | null;
  readonly nextTurn: number;
  readonly nextStep: number;
  /** Seqs of human prompts, which titles cite. */
  readonly prompts: readonly number[];
  /** Provider and model of the latest request header; null before the first. */
  readonly route: Route | null;
  /** True when the next request header has to say `resume`. */
  readonly resumed: boolean;
  /** The reference's running estimate of the surface, in tokens; an announced price must not exceed it. */
  readonly estimate: number;
}

/** Where a request goes. */
export interface Route {
  readonly provider: string;
  readonly model: string;
}

/** A surface event that has no seq yet. */
interface NewMessage {
  readonly type: "user/message" | "assistant/message" | "tool/result";
  readonly data: unknown;
  readonly content: readonly Block[];
  readonly sources?: readonly number[] | undefined;
  readonly group?: string;
  readonly result?: ToolResultData;
  /** First and last position to replace, and the price the event before announced. */
  readonly replace?: {
    readonly from: number;
    readonly to: number;
    readonly price: number | null;
  };
}

/** Appends events; `events` and `state` always belong together. */
export interface LogWriter {
  readonly events: readonly EventLike[];
  readonly state: LogState;
  /** Appends an event off the surface, changes the state with it, and gives its seq. */
  append(type: string, data: unknown, change?: Partial<LogState>): number;
  /** Appends an event that readers may skip when they do not know its type. */
  appendIgnorable(type: string, data: unknown): number;
  /** Appends or replaces on the surface and gives the seq. */
  appendMessage(message: NewMessage): number;
  /** Appends an event that a repair made, as it is; `node` is its place on the surface, if it has one. */
  appendRepair(event: EventLike, node: SurfaceNode | null): void;
  update(change: Partial<LogState>): void;
  /** Takes back all events from `length` on. */
  rewind(length: number): void;
  /** Gives a number no call gave before, for ids. */
  nextId(): number;
}

/** Starts an empty log whose event `n` moves the clock by tick `n`, over and over. */
export function createLogWriter(
  clock: readonly Tick[],
  startMs: number,
): LogWriter {
  const events: EventLike[] = [];
  const states: LogState[] = [{ ...EMPTY, timeMs: startMs }];
  let lastId = 0;
  const current = (): LogState => states.at(-1) ?? EMPTY;
  const push = (unplaced: UnplacedEvent, change: Partial<LogState>): number => {
    const seq = events.length;
    const { type, ...rest } = unplaced;
    const time = moved(current().timeMs, clock[seq % clock.length]);
    events.push({ type, seq, time, ...rest });
    states.push({ ...current(), ...change, timeMs: time });
    return seq;
  };
  return {
    events,
    get state() {
      return current();
    },
    append: (type, data, change = {}) => push({ type, data }, change),
    appendIgnorable: (type, data) => push({ type, data, ignorable: true }, {}),
    appendMessage: (message) => {
      const { type, data, sources } = message;
      const { surfaceOp, change } = placed(current(), message, events.length);
      const cited = sources === undefined ? {} : { sourceEventSeqs: sources };
      return push({ type, data, ...cited, surfaceOp }, change);
    },
    appendRepair: (event, node) => {
      const { surface, ...rest } = current();
      events.push(event);
      states.push({ ...rest, surface: node ? [...surface, node] : surface });
    },
    update: (change) =>
      void states.push({ ...(states.pop() ?? EMPTY), ...change }),
    rewind: (length) => {
      events.length = length;
      states.length = length + 1;
    },
    nextId: () => (lastId += 1),
  };
}

type UnplacedEvent = Omit<EventLike, "seq" | "time">;

const EMPTY: LogState = {
  timeMs: 0,
  surface: [],
  turn: null,
  step: null,
  nextTurn: 1,
  nextStep: 1,
  prompts: [],
  route: null,
  resumed: false,
  estimate: 0,
};

/** Where a message goes, and what the surface and its estimate are afterwards. */
function placed(
  { surface, estimate }: LogState,
  message: NewMessage,
  seq: number,
): { surfaceOp: SurfaceOpLike; change: Partial<LogState> } {
  const price = isVisible(message) ? priceOf(message.content) : 0;
  const { group = null, result = null, replace } = message;
  const node = { seq, price, group, result };
  const first = surface[replace?.from ?? -1];
  const last = surface[replace?.to ?? -1];
  if (!replace || !first || !last)
    return {
      surfaceOp: "append",
      change: { surface: [...surface, node], estimate: estimate + price },
    };
  const gained = replace.price === null ? 0 : price - replace.price;
  return {
    surfaceOp: { op: "replace", start: first.seq, end: last.seq },
    change: {
      surface: surface.toSpliced(
        replace.from,
        replace.to - replace.from + 1,
        node,
      ),
      estimate: estimate + gained,
    },
  };
}

/** An assistant message without content only carries usage; the model never sees it. */
function isVisible({ type, content }: NewMessage): boolean {
  return type !== "assistant/message" || content.length > 0;
}

function moved(timeMs: number, tick: Tick | undefined): number {
  if (tick === undefined) return timeMs;
  if ("toMs" in tick) return tick.toMs;
  const next = timeMs + tick.byMs;
  return Number.isSafeInteger(next) ? next : timeMs;
}
