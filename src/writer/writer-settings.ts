/** What a writer is given: services it shares with others, where it begins, and how it batches. */
import type { Queryable } from "../db/connect.ts";
import type { SessionHeader } from "../events/header.ts";
import type { RulesState } from "../events/rules/rules.ts";
import type { Creation } from "../log/append-request.ts";
import { badCall, requireTimeout } from "../log/bad-call.ts";
import type { SizeLimits } from "../log/encode-append.ts";
import type { EventTypes } from "../log/event-types.ts";
import type { BatchLimits } from "./batches.ts";
import type { Hold } from "./hold.ts";

/** What the writers of a store share. */
export interface WriterContext {
  readonly db: Queryable;
  readonly types: EventTypes;
  readonly limits: SizeLimits;
  /** Called after each commit. */
  readonly ring: () => void;
}

/** Where a writer begins. */
export interface WriterStart {
  readonly hold: Hold;
  readonly header: SessionHeader;
  readonly head: number;
  readonly state: RulesState;
  /** For a session that the first batch creates. */
  readonly creation: Creation | null;
}

export interface WriterOptions {
  /** How long an event waits for others before it is stored, in ms. @defaultValue 50 */
  readonly maxDelayMs?: number;
  /** Events that are stored by one append. @defaultValue 500 */
  readonly maxBatchEvents?: number;
  /** Characters of JSON text that are stored by one append; a larger event goes alone. @defaultValue 1048576 */
  readonly maxBatchCharacters?: number;
  /** How long the writer counts as alive after its last sign of life, in ms; it gives three in that time. @defaultValue 15000 */
  readonly holdMs?: number;
  /** How long a lost connection is met by sending again, in ms. @defaultValue 10000 */
  readonly timeoutMs?: number;
}

export interface WriterSettings extends BatchLimits {
  readonly holdMs: number;
  readonly timeoutMs: number;
}

/** @throws EventInvalidError for an option that can't be meant */
export function writerSettings(
  options: WriterOptions,
  limits: SizeLimits,
): WriterSettings {
  const {
    maxDelayMs = 50,
    maxBatchEvents = 500,
    maxBatchCharacters = 1024 * 1024,
    holdMs = 15_000,
    timeoutMs = 10_000,
  } = options;
  return {
    maxDelayMs: requireTimeout(maxDelayMs, "maxDelayMs"),
    maxBatchEvents: requireCount(maxBatchEvents, "maxBatchEvents"),
    maxBatchCharacters: Math.min(
      requireCount(maxBatchCharacters, "maxBatchCharacters"),
      limits.maxAppendCharacters,
    ),
    holdMs: requireCount(requireTimeout(holdMs, "holdMs"), "holdMs"),
    timeoutMs: requireTimeout(timeoutMs, "timeoutMs"),
  };
}

function requireCount(value: unknown, path: string): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 1)
    throw badCall(path, "must be a whole number from 1");
  return value;
}
