/** Brings a session that a writer has just opened to where work can go on: what a crash left open is closed. */
import { randomUUID } from "node:crypto";
import { WrongExpectedSeqError } from "../errors.ts";
import type { NewEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import { AppendId } from "../events/ids.ts";
import type { RulesState } from "../events/rules/rules.ts";
import { checkBatch, placeEvents } from "../log/check-batch.ts";
import { takeEach } from "../log/take-events.ts";
import { readLogEnd } from "../log/closers-at.ts";
import { readSessionRow } from "../log/session-row.ts";
import { readStateAt } from "../log/session-state.ts";
import type { Hold } from "./hold.ts";
import { storeBatch } from "./store-batch.ts";
import type { WriterContext, WriterSettings } from "./writer-settings.ts";

/** Where a resumed session stands. */
export interface Resumed {
  readonly header: SessionHeader;
  readonly head: number;
  readonly state: RulesState;
}

/** Appends of nobody who holds the session may come in between this often. */
const MAX_ATTEMPTS = 5;

const END_SEED: NewEvent = { type: "session/end-seed", data: {} };

/**
 * Closes the turn that a crash has left open and marks where the new life of the session begins, by one append: fenced, so
 * that it can't hit a later writer, and at exactly the head it was computed for, so that an event which was faster is never
 * contradicted. A log that needs neither stays as it is.
 * @throws WriterFencedError, SessionDeletedError, RulesOutdatedError, AppendOutcomeUnknownError, SessionBusyError,
 * DatabaseUnavailableError; WrongExpectedSeqError when others kept appending
 */
export async function resume(
  context: WriterContext,
  hold: Hold,
  settings: WriterSettings,
): Promise<Resumed> {
  for (let attempt = 1; ; attempt += 1) {
    const { header, head } = await readSessionRow(context.db, hold.sessionId);
    try {
      const standing = await tryToResume(context, hold, settings, head);
      if (standing !== null) return { header, ...standing };
    } catch (error) {
      const isOvertaken = error instanceof WrongExpectedSeqError;
      if (!isOvertaken || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Null when the log no longer ends at `head`. */
async function tryToResume(
  context: WriterContext,
  hold: Hold,
  settings: WriterSettings,
  head: number,
): Promise<Omit<Resumed, "header"> | null> {
  const { db, limits } = context;
  const { sessionId } = hold;
  const before = await readStateAt(db, sessionId, head);
  if (before === null) return null;
  const { lastType, closers } = await readLogEnd(db, sessionId, head);
  if (closers.length === 0 && lastType === END_SEED.type) return before;
  const given = takeEach([...closers, END_SEED], head);
  const events = [...placeEvents(given, head)];
  // A log that was imported with what it breaks is closed as any other.
  const state = await checkBatch(db, {
    sessionId,
    firstSeq: head,
    state: before.state,
    items: events,
    allowFindings: true,
  });
  await storeBatch(
    { db, hold, creation: null, limits, ...settings },
    {
      appendId: AppendId(randomUUID()),
      firstSeq: head,
      events,
      state,
      now: Date.now(),
      encoded: null,
    },
  );
  context.ring();
  return { head: head + events.length, state };
}
