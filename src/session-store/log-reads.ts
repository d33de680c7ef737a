/** Reads of a store that look at the log alone. */
import type { Db } from "../db/connect.ts";
import { SessionId } from "../events/ids.ts";
import { requireList, requireSeq } from "../log/bad-call.ts";
import { readEventWindow } from "../log/event-window.ts";
import { inspectSession } from "../log/inspect.ts";
import { readMessagesAt } from "../log/messages-at.ts";
import { readEvents } from "../log/read.ts";
import { readRequestAt } from "../log/request-at.ts";
import { readRevisions } from "../log/revisions.ts";
import { readSessionIds } from "../log/session-ids.ts";
import { readSessionRow } from "../log/session-row.ts";
import { traceEvent } from "../log/trace-event.ts";
import { readTranscript } from "../log/transcript.ts";
import type { SessionStore } from "./session-store.ts";

type LogReads = Pick<
  SessionStore,
  | "read"
  | "session"
  | "inspect"
  | "sessionIds"
  | "messagesAt"
  | "requestAt"
  | "transcript"
  | "event"
  | "traceEvent"
  | "revisions"
>;

export function logReads(db: Db): LogReads {
  return {
    async *read(sessionId, options) {
      if (options?.fromSeq !== undefined)
        requireSeq(options.fromSeq, "fromSeq");
      if (
        options?.toSeq !== undefined &&
        options.toSeq !== Number.POSITIVE_INFINITY
      )
        requireSeq(options.toSeq, "toSeq");
      yield* readEvents(db, SessionId(sessionId), options);
    },
    async session(sessionId) {
      const { header, head } = await readSessionRow(db, SessionId(sessionId));
      return { header, head };
    },
    async inspect(sessionId) {
      return inspectSession(db, SessionId(sessionId));
    },
    sessionIds: () => readSessionIds(db),
    async messagesAt(sessionId, seq) {
      return readMessagesAt(db, SessionId(sessionId), seq);
    },
    async requestAt(sessionId, query) {
      return readRequestAt(db, SessionId(sessionId), query);
    },
    async *transcript(sessionId, options) {
      yield* readTranscript(db, SessionId(sessionId), options);
    },
    async event(sessionId, seq, options) {
      return readEventWindow(db, SessionId(sessionId), seq, options ?? {});
    },
    async traceEvent(sessionId, seq) {
      return traceEvent(db, SessionId(sessionId), seq);
    },
    async revisions(sessionIds) {
      return readRevisions(
        db,
        requireList(sessionIds, "sessionIds").map(SessionId),
      );
    },
  };
}
