/**
 * An oracle over the published packages of the reference implementation (dsh 0.1.0-rc.8):
 * what it accepts and what it derives. Used by tests alone.
 */

import { Context } from "@deepseek-ai/cordis";
import { InvariantRegistry } from "@deepseek-ai/dsh-invariants";
import {
  KNOWN_SESSION_EVENT_TYPES,
  Session,
  SessionId,
  SessionStore,
  decodeStorageRecord,
  interruptedTurnClosers,
  packChunkRuns,
  type SessionEvent,
  type SessionHeader,
} from "@deepseek-ai/dsh-session";
import * as sessionInvariant from "@deepseek-ai/dsh-session/invariant";
import {
  SessionProjectionRegistry,
  type ProjectionCheckpoint,
  type SessionProjectionMap,
} from "@deepseek-ai/dsh-session-projection";
import * as statsPlugin from "@deepseek-ai/dsh-session-stats";
import { foldSessionTitle } from "@deepseek-ai/dsh-session-title";
import * as titleInvariant from "@deepseek-ai/dsh-session-title/invariant";
import { TokenMeter } from "@deepseek-ai/dsh-token-meter";
import type { EventLike } from "./reference-log.ts";

/** What the reference derives from a log. */
export interface ReferenceFold {
  /** Seqs of the current surface, in model-visible order. */
  readonly surface: readonly number[];
  readonly messages: readonly unknown[];
  readonly title: string | null;
  readonly tokenUsage: unknown;
  readonly sessionStats: unknown;
}

/** How full the model's context is, as the reference estimates it. */
export interface ReferenceContext {
  readonly contextPressure: unknown;
  readonly contextBreakdown: unknown;
}

/**
 * Opens the log as the reference restores a stored session and folds exactly the given events.
 * Throws when it refuses (header, envelopes, message shapes, surface) or when its folds cannot take the payloads.
 */
export function referenceFold(
  header: object,
  events: readonly object[],
): ReferenceFold {
  const session = open(header, events);
  // The session has appended its own session/end-seed; the folds must not depend on that event.
  const given = session.events.slice(0, events.length);
  const { tokenUsage, sessionStats } = project(given, [
    "tokenUsage",
    "sessionStats",
  ]);
  return {
    surface: [...session.surface.nodes],
    messages: session.deriveMessages(),
    title: foldSessionTitle(given)?.title ?? null,
    tokenUsage,
    sessionStats,
  };
}

/**
 * Folds the estimates of the model's context. They are apart from the other folds because they throw for logs that
 * the reference opens: when an announced price contradicts the replacement after it or exceeds the estimate so far.
 */
export function referenceContext(events: readonly object[]): ReferenceContext {
  const { contextPressure, contextBreakdown } = project(sessionEvents(events), [
    "contextPressure",
    "contextBreakdown",
  ]);
  return { contextPressure, contextBreakdown };
}

/**
 * Throws when the log breaks a relational rule the reference checks over a restored session: nesting of turns and
 * steps, pairing of tool results, ownership of cited chunks, and what a title cites.
 */
export function referenceInvariants(
  header: object,
  events: readonly object[],
): void {
  const session = open(header, events);
  published(session, () => world.tokenMeter.measure(session));
  // The rule on titles looks at each appended event alone, so an empty session serves.
  const empty = Session.create(session.id);
  published(empty, () => {
    for (const event of session.events)
      if (event.type === "session/title") empty.append(event.type, event.data);
  });
}

/** Types the reference's reader would refuse: unknown to it and not marked ignorable. */
export function unknownRequiredTypes(events: readonly object[]): string[] {
  const unknown = sessionEvents(events).filter(
    ({ type, ignorable }) =>
      ignorable !== true && !KNOWN_SESSION_EVENT_TYPES.has(type),
  );
  return unknown.map(({ type }) => type);
}

/** Events that close a turn left open by a crash; empty for a balanced log. */
export function referenceClosers(
  events: readonly object[],
): readonly EventLike[] {
  return interruptedTurnClosers(sessionEvents(events));
}

/** One record for each line of a file: runs of deltas packed, all else as it is. */
export function referencePack(events: readonly object[]): readonly object[] {
  return packChunkRuns(sessionEvents(events));
}

/** The events of one parsed line; throws on a malformed packed row. */
export function referenceExpand(record: unknown): readonly EventLike[] {
  return decodeStorageRecord(record);
}

const world = await openWorld();

/** Loads the services of the reference that hold its folds and its rules. */
async function openWorld(): Promise<Context> {
  const context = new Context();
  await context.plugin(SessionStore);
  await context.plugin(SessionProjectionRegistry);
  await context.plugin(statsPlugin);
  await context.plugin(TokenMeter);
  await context.plugin(InvariantRegistry);
  await context.plugin(sessionInvariant);
  await context.plugin(titleInvariant);
  return context;
}

/** Folds only the named projections: the others get a checkpoint that claims to have seen all events. */
function project(
  events: readonly SessionEvent[],
  keys: readonly (keyof SessionProjectionMap)[],
): Partial<SessionProjectionMap> {
  const registry = world.sessionProjections;
  const untouched = registry.restore({}, [], 0).checkpoint;
  const seen: ProjectionCheckpoint = {};
  for (const [key, row] of Object.entries(untouched))
    if (!keys.some((wanted) => wanted === key))
      seen[key] = { ...row, seq: events.length - 1 };
  return registry.restore(seen, events, 0).snapshot.values;
}

/** Runs `use` while the session is live, which makes the invariant companions replay its log. */
function published(session: Session, use: () => void): void {
  const leave = world.sessions.enter(session);
  try {
    world.sessions.announce(session);
    use();
  } finally {
    leave();
  }
}

/** Restores a session from copies, because the reference freezes what it is given. */
function open(header: object, events: readonly object[]): Session {
  const restored = structuredClone(header);
  if (!isHeader(restored)) throw new Error("header without id");
  return Session.fromRestore(
    SessionId(restored.id),
    sessionEvents(structuredClone(events)),
    restored,
  );
}

/** Names the type only: the reference validates the header itself. */
function isHeader(header: object): header is SessionHeader {
  return "id" in header && typeof header.id === "string";
}

function sessionEvents(events: readonly object[]): SessionEvent[] {
  return events.filter(isEvent);
}

/** Names the type only: the reference validates the events itself. */
function isEvent(_event: object): _event is SessionEvent {
  return true;
}
