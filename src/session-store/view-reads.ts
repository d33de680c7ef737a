/** Reads of a store that look at the read tables. */
import type { Db } from "../db/connect.ts";
import { EventNotFoundError } from "../errors.ts";
import { SessionId } from "../events/ids.ts";
import { requireSeq, requireTimeout } from "../log/bad-call.ts";
import { readSessionRow } from "../log/session-row.ts";
import { readAsOfSeq } from "../query/as-of.ts";
import { readSessions } from "../query/list-sessions.ts";
import {
  readMessages,
  readTitles,
  readTokenStats,
  readUsage,
  type MessagesQuery,
} from "../query/read-views.ts";
import { waitForSeq } from "../query/wait-for.ts";
import { requireSessionsQuery } from "./sessions-query.ts";
import type { SessionStore } from "./session-store.ts";

type ViewReads = Pick<
  SessionStore,
  "sessions" | "messages" | "usage" | "titles" | "tokenStats" | "waitFor"
>;

/** Longest list that a call returns unless it asks for more. */
const DEFAULT_LIMIT = 100;

export function viewReads(db: Db): ViewReads {
  return {
    async sessions(options) {
      return readSessions(db, {
        limit: DEFAULT_LIMIT,
        ...requireSessionsQuery(options ?? {}),
      });
    },
    async messages(sessionId, options) {
      const id = SessionId(sessionId);
      if (options?.limit !== undefined) requireSeq(options.limit, "limit");
      if (options?.after !== undefined && options.after !== -1)
        requireSeq(options.after, "after");
      const asOfSeq = await readAsOfSeq(db, id, "messages");
      const query: MessagesQuery = {
        show: "surface",
        limit: DEFAULT_LIMIT,
        after: -1,
        ...options,
      };
      return { rows: await readMessages(db, id, query), asOfSeq };
    },
    async usage(sessionId) {
      const id = SessionId(sessionId);
      const asOfSeq = await readAsOfSeq(db, id, "usage");
      return { rows: await readUsage(db, id), asOfSeq };
    },
    async titles(sessionId) {
      const id = SessionId(sessionId);
      const asOfSeq = await readAsOfSeq(db, id, "titles");
      return { rows: await readTitles(db, id), asOfSeq };
    },
    async tokenStats(sessionId) {
      return readTokenStats(
        db,
        sessionId === undefined ? null : SessionId(sessionId),
      );
    },
    async waitFor(sessionId, { seq, projections = null, timeoutMs = 5_000 }) {
      const id = SessionId(sessionId);
      requireSeq(seq, "seq");
      const deadlineMs = requireTimeout(timeoutMs, "timeoutMs");
      const { head, factsHead } = await readSessionRow(db, id);
      if (seq >= head)
        throw new EventNotFoundError({ sessionId: id, seq, head });
      await waitForSeq(db, {
        sessionId: id,
        seq,
        factsHead,
        projections,
        timeoutMs: deadlineMs,
      });
    },
  };
}
