/**
 * A session log in the shape of real ones, without an end: turns of many steps, in which a model thinks, calls tools
 * and answers. Of 87,000 events about 98 % are deltas, from about 125 requests with about 136 tool calls. Holds one
 * step at a time.
 */
import type { SessionEvent } from "../../src/events/event.ts";
import { FORMAT_VERSION, type SessionHeader } from "../../src/events/header.ts";
import { createLogPen } from "./log-pen.ts";
import { createRandom } from "./random.ts";
import type { Log } from "./request.ts";
import { writeTurn } from "./turn.ts";

export interface GeneratedSession {
  readonly header: SessionHeader;
  /** Exactly as many events as were asked for: the log ends where its number is full, in the middle of a turn. */
  readonly events: Iterable<SessionEvent>;
}

export interface SessionShape {
  /** The same seed gives the same log, byte for byte. */
  readonly seed: number;
  readonly events: number;
}

/** 2026-01-01T00:00:00Z, and how far apart sessions begin at most. */
const FIRST_START_MS = 1_767_225_600_000;
const START_SPREAD_MS = 90 * 24 * 3_600_000;

/** Generates one session. The events can be walked any number of times, and are the same each time. */
export function generateSession(shape: SessionShape): GeneratedSession {
  const random = createRandom(shape.seed);
  const createdAt = FIRST_START_MS + random.below(START_SPREAD_MS);
  const header = {
    version: FORMAT_VERSION,
    id: random.uuid(),
    createdAt,
    cwd: "/srv/demo",
    delegationDepth: 0,
  } as const;
  return {
    header,
    events: {
      [Symbol.iterator]: () =>
        take(endless(shape.seed, createdAt), shape.events),
    },
  };
}

function* take<T>(items: Iterable<T>, count: number): Generator<T> {
  if (count === 0) return;
  let left = count;
  for (const item of items) {
    yield item;
    left -= 1;
    if (left === 0) return;
  }
}

function* endless(seed: number, createdAt: number): Generator<SessionEvent> {
  const random = createRandom(seed).fork();
  const log: Log = {
    pen: createLogPen(createdAt),
    random,
    contextTokens: 3_000,
  };
  for (let turn = 1; ; turn += 1) yield* writeTurn(log, turn);
}
