/** A session as a repair would leave it, without repairing it. */
import type { Queryable } from "../db/connect.ts";
import type { SessionEvent } from "../events/event.ts";
import type { SessionHeader } from "../events/header.ts";
import type { SessionId } from "../events/ids.ts";
import { readLogEnd } from "./closers-at.ts";
import { readEvents } from "./read.ts";
import { readSessionRow } from "./session-row.ts";

export interface SessionInspection {
  readonly header: SessionHeader;
  /** Number of stored events. */
  readonly head: number;
  /** True while a writer holds the session: an open turn is then its work, and nothing is to be closed. */
  readonly isWriterAlive: boolean;
  /** What opening the session would append to end the turn that a crash has left open; nothing of it is stored. */
  readonly closers: readonly SessionEvent[];
  /** The stored events as of the inspection, and then the closers. */
  events(): AsyncIterable<SessionEvent>;
}

/** @throws SessionNotFoundError, SessionDeletedError */
export async function inspectSession(
  db: Queryable,
  sessionId: SessionId,
): Promise<SessionInspection> {
  const { header, head, isWriterAlive } = await readSessionRow(db, sessionId);
  const { closers } = isWriterAlive
    ? { closers: [] }
    : await readLogEnd(db, sessionId, head);
  return {
    header,
    head,
    isWriterAlive,
    closers,
    async *events() {
      yield* readEvents(db, sessionId, { toSeq: head });
      yield* closers;
    },
  };
}
