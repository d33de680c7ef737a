/** What a caller asks of the list of sessions, held against what can be asked. */
import {
  badCall,
  requireList,
  requireSeq,
  requireText,
} from "../log/bad-call.ts";
import type { SessionsQuery } from "../query/list-sessions.ts";

/** @throws EventInvalidError for a query that can't be meant */
export function requireSessionsQuery(query: SessionsQuery): SessionsQuery {
  const { limit, after, sessionIds, statuses } = query;
  if (limit !== undefined) requireSeq(limit, "limit");
  if (after !== undefined) requireRow(after);
  for (const key of ["tenant", "cwd", "parentSessionId", "origin"] as const)
    if (query[key] != null) requireText(query[key], key);
  for (const key of ["createdFromMs", "createdToMs"] as const)
    if (query[key] !== undefined) requireTime(query[key], key);
  for (const [key, list] of Object.entries({ sessionIds, statuses }))
    requireList(list ?? [], key).forEach((text) => requireText(text, key));
  return query;
}

function requireRow(after: unknown): void {
  if (typeof after !== "object" || after === null)
    throw badCall("after", "must be the last row of a page");
  requireTime(Reflect.get(after, "activityMs"), "after.activityMs");
  requireText(Reflect.get(after, "sessionId"), "after.sessionId");
}

function requireTime(value: unknown, path: string): void {
  if (!Number.isSafeInteger(value))
    throw badCall(path, "must be a whole number of epoch ms");
}
