/** Typed reads of the views, in pages. */
import { and, asc, eq, gt } from "drizzle-orm";
import type { Db } from "../db/connect.ts";
import { toTurnlogError } from "../db/pg-errors.ts";
import type { SessionId } from "../events/ids.ts";
import {
  messagesView,
  titlesView,
  tokenStatsView,
  usageView,
  type MessageRow,
  type TitleRow,
  type TokenStatsRow,
  type UsageRow,
} from "./views.ts";

export interface MessagesQuery {
  /** `surface`: what the model sees next, in its order. `transcript`: what a person saw, in log order. */
  readonly show: "surface" | "transcript";
  readonly limit: number;
  /** Rows after this order key (surface) or seq (transcript). */
  readonly after: number;
}

export function readMessages(
  db: Db,
  sessionId: SessionId,
  query: MessagesQuery,
): Promise<MessageRow[]> {
  const isSurface = query.show === "surface";
  const key = isSurface ? messagesView.orderKey : messagesView.seq;
  const shown = isSurface ? messagesView.onSurface : messagesView.inTranscript;
  return typed(
    db.orm
      .select()
      .from(messagesView)
      .where(
        and(
          eq(messagesView.sessionId, sessionId),
          eq(shown, true),
          gt(key, query.after),
        ),
      )
      .orderBy(asc(key))
      .limit(query.limit),
  );
}

/** Facts of one session in log order. */
export function readUsage(db: Db, sessionId: SessionId): Promise<UsageRow[]> {
  return typed(
    db.orm
      .select()
      .from(usageView)
      .where(eq(usageView.sessionId, sessionId))
      .orderBy(asc(usageView.firstSeq)),
  );
}

/** Sums of one session, or of all. */
export function readTokenStats(
  db: Db,
  sessionId: SessionId | null,
): Promise<TokenStatsRow[]> {
  return typed(
    db.orm
      .select()
      .from(tokenStatsView)
      .where(
        sessionId === null
          ? undefined
          : eq(tokenStatsView.sessionId, sessionId),
      )
      .orderBy(
        asc(tokenStatsView.sessionId),
        asc(tokenStatsView.provider),
        asc(tokenStatsView.model),
      ),
  );
}

export function readTitles(db: Db, sessionId: SessionId): Promise<TitleRow[]> {
  return typed(
    db.orm
      .select()
      .from(titlesView)
      .where(eq(titlesView.sessionId, sessionId))
      .orderBy(asc(titlesView.seq)),
  );
}

async function typed<T>(rows: PromiseLike<T>): Promise<T> {
  try {
    return await rows;
  } catch (error) {
    throw toTurnlogError(error);
  }
}
