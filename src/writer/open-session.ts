/** Opens stored sessions for writing, creates new ones, and fences writers off. */
import { SessionDeletedError, WrongExpectedSeqError } from "../errors.ts";
import type { NewSessionHeader } from "../events/header.ts";
import { AppendId, type SessionId } from "../events/ids.ts";
import { initRules } from "../events/rules/rules.ts";
import { within } from "../log/append.ts";
import { readStanding } from "../log/append-call.ts";
import { creationOf, takeHeader } from "../log/append-request.ts";
import { requireText } from "../log/bad-call.ts";
import { openHold, releaseHold } from "./hold.ts";
import { resume } from "./resume.ts";
import { SessionWriter } from "./session-writer.ts";
import {
  writerSettings,
  type WriterContext,
  type WriterOptions,
  type WriterSettings,
} from "./writer-settings.ts";

export interface OpenOptions extends WriterOptions {
  /** Opens the session though its writer is alive: that one is fenced off. @defaultValue false */
  readonly takeOver?: boolean;
}

export interface CreateOptions extends WriterOptions {
  readonly header?: NewSessionHeader;
  /** Label of the owner. */
  readonly tenant?: string;
}

/** What is known of a session once its writers are fenced off. */
export interface TakenOver {
  /** Appends of writers with a lower one are refused from now on. */
  readonly epoch: number;
  /** Number of events: those writers add none to them. */
  readonly head: number;
}

/** @throws SessionNotFoundError, SessionDeletedError, SessionBusyError, DatabaseUnavailableError; what `resume` throws */
export async function openSession(
  context: WriterContext,
  sessionId: SessionId,
  options: OpenOptions,
): Promise<SessionWriter> {
  const settings = writerSettings(options, context.limits);
  const bounded = withDeadline(context, settings);
  const { db } = bounded;
  const isTaken = options.takeOver === true;
  const hold = await openHold(db, sessionId, isTaken, settings.holdMs);
  try {
    const start = await resume(bounded, hold, settings);
    return new SessionWriter(
      bounded,
      { ...start, hold, creation: null },
      settings,
    );
  } catch (error) {
    // The first error counts; a hold that can't be given back ends by itself.
    await releaseHold(db, hold).catch(() => undefined);
    throw error;
  }
}

/** @throws WrongExpectedSeqError when the session exists; SessionDeletedError; EventInvalidError for a header that can't be stored */
export async function createSession(
  context: WriterContext,
  sessionId: SessionId,
  options: CreateOptions,
): Promise<SessionWriter> {
  const { header = {}, tenant } = options;
  const settings = writerSettings(options, context.limits);
  const bounded = withDeadline(context, settings);
  const creation = creationOf({
    sessionId,
    header: takeHeader(header),
    tenant: tenant === undefined ? null : requireText(tenant, "tenant"),
    recreate: false,
    now: Date.now(),
  });
  const standing = await readStanding(bounded.db, sessionId, AppendId());
  if (standing?.deleted === true) throw new SessionDeletedError({ sessionId });
  if (standing !== null)
    throw new WrongExpectedSeqError({
      sessionId,
      expectedSeq: 0,
      actualSeq: standing.head,
    });
  const { incarnation } = creation;
  return new SessionWriter(
    bounded,
    {
      hold: { sessionId, incarnation, epoch: 0 },
      header: creation.header,
      head: 0,
      state: initRules(creation.header),
      creation,
    },
    settings,
  );
}

/** @throws SessionNotFoundError, SessionDeletedError, SessionBusyError when the row is locked */
export async function takeOver(
  { db }: WriterContext,
  sessionId: SessionId,
): Promise<TakenOver> {
  const { epoch, head } = await openHold(db, sessionId, true, 0);
  return { epoch, head };
}

/** No statement of a writer waits longer than its appends do. */
function withDeadline(
  context: WriterContext,
  { timeoutMs }: WriterSettings,
): WriterContext {
  return { ...context, db: within(context.db, timeoutMs) };
}
