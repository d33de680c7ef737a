/** The list of sessions, in pages: those that a person turned to last come first. */
import {
  and,
  desc,
  eq,
  gte,
  inArray,
  isNull,
  lte,
  sql,
  type SQL,
} from "drizzle-orm";
import type { Db } from "../db/connect.ts";
import { toTurnlogError } from "../db/pg-errors.ts";
import { sessionsView, type SessionListRow } from "./views.ts";

/** Filters hold all together; a list matches any of its members, and an empty one nothing; bounds are included. */
export interface SessionsQuery {
  /** Rows at most. @defaultValue 100 */
  readonly limit?: number;
  /** Goes on behind this row: the last one of the page before. It need not be in the list any more. */
  readonly after?: Pick<SessionListRow, "activityMs" | "sessionId"> | undefined;
  readonly sessionIds?: readonly string[];
  /** Null: those without one. */
  readonly tenant?: string | null;
  readonly cwd?: string | null;
  readonly parentSessionId?: string | null;
  readonly origin?: string | null;
  readonly statuses?: readonly string[];
  /** Epoch ms. */
  readonly createdFromMs?: number;
  readonly createdToMs?: number;
}

/**
 * Sessions by last human prompt, or creation, latest first; equal ones by id, descending. A page is read from an index
 * whatever its place, and a session that moves up meanwhile is seen twice or at its old place, never one that stays missed.
 */
export async function readSessions(
  db: Db,
  query: SessionsQuery & { readonly limit: number },
): Promise<SessionListRow[]> {
  try {
    return await db.orm
      .select()
      .from(sessionsView)
      .where(and(...conditionsOf(query)))
      .orderBy(desc(sessionsView.activityMs), desc(sessionsView.sessionId))
      .limit(query.limit);
  } catch (error) {
    throw toTurnlogError(error);
  }
}

function conditionsOf(query: SessionsQuery): readonly (SQL | undefined)[] {
  const view = sessionsView;
  const { after, sessionIds, statuses, createdFromMs, createdToMs } = query;
  const same = (
    column:
      | typeof view.tenant
      | typeof view.cwd
      | typeof view.parentSessionId
      | typeof view.origin,
    value: string | null | undefined,
  ): SQL | undefined => {
    if (value === undefined) return undefined;
    return value === null ? isNull(column) : eq(column, value);
  };
  return [
    after === undefined
      ? undefined
      : sql`(${view.activityMs}, ${view.sessionId}) < (${after.activityMs}, ${after.sessionId})`,
    sessionIds === undefined
      ? undefined
      : inArray(view.sessionId, [...sessionIds]),
    same(view.tenant, query.tenant),
    same(view.cwd, query.cwd),
    same(view.parentSessionId, query.parentSessionId),
    same(view.origin, query.origin),
    statuses === undefined ? undefined : inArray(view.status, [...statuses]),
    createdFromMs === undefined
      ? undefined
      : gte(view.createdMs, createdFromMs),
    createdToMs === undefined ? undefined : lte(view.createdMs, createdToMs),
  ];
}
