/** Checks a stored log by every rule, and that the state beside it is the one the log leaves. */
import type { Queryable } from "../db/connect.ts";
import { isSameJson } from "../events/same-json.ts";
import { parseJson } from "../events/json.ts";
import type { SessionId } from "../events/ids.ts";
import { LogAudit, type Finding } from "../events/rules/log-audit.ts";
import { RULES_VERSION, type RulesState } from "../events/rules/rules.ts";
import { findingKey, readFindingKeys } from "./import-findings.ts";
import { readEvents } from "./read.ts";
import { readSessionRow } from "./session-row.ts";

export interface CheckReport {
  readonly sessionId: string;
  readonly events: number;
  /** All findings; `findings` holds the first thousand. */
  readonly count: number;
  readonly findings: readonly Finding[];
  /** How many of `findings` were accepted when the log was imported as it is; they stand first. */
  readonly accepted: number;
  /** True when the stored state was wrong, or of older rules, and has been replaced. */
  readonly isStateFixed: boolean;
}

/**
 * Reads the whole log. With `fixState` a wrong state is replaced, unless the session has grown meanwhile.
 * @throws SessionNotFoundError, SessionDeletedError
 */
export async function checkSession(
  db: Queryable,
  sessionId: SessionId,
  options: { readonly fixState: boolean },
): Promise<CheckReport> {
  const { header, head } = await readSessionRow(db, sessionId);
  const audit = new LogAudit(header);
  for await (const event of readEvents(db, sessionId, { toSeq: head }))
    audit.add(event);
  const isStateRight = await hasState(db, sessionId, head, audit.state);
  if (!isStateRight)
    audit.note(
      {
        rule: "state",
        path: "",
        reason: `of the session at seq ${head} is not what its log leaves`,
      },
      null,
    );
  const isStateFixed =
    !isStateRight &&
    options.fixState &&
    (await replaceState(db, sessionId, head, audit.state));
  const known = await readFindingKeys(db, sessionId);
  const isAccepted = (finding: Finding): boolean =>
    known.has(findingKey(finding));
  const accepted = audit.findings.filter(isAccepted);
  return {
    sessionId,
    events: audit.nextSeq,
    count: audit.count,
    findings: [
      ...accepted,
      ...audit.findings.filter((finding) => !isAccepted(finding)),
    ],
    accepted: accepted.length,
    isStateFixed,
  };
}

/** True too when the session has grown since: then its state is of another head. */
async function hasState(
  db: Queryable,
  sessionId: SessionId,
  head: number,
  state: RulesState,
): Promise<boolean> {
  const [row] = await db.rows<{ state: string; rules_version: number }>(
    {
      text: "select state, rules_version from turnlog.sessions where session_id = $1 and head = $2",
    },
    [sessionId, head],
  );
  if (row === undefined) return true;
  return (
    row.rules_version === RULES_VERSION &&
    isSameJson(parseJson(row.state), parseJson(JSON.stringify(state)))
  );
}

/** Locks: the session row, for the statement. */
async function replaceState(
  db: Queryable,
  sessionId: SessionId,
  head: number,
  state: RulesState,
): Promise<boolean> {
  const rows = await db.rows(
    {
      text: `
        update turnlog.sessions
        set state = $3, rules_version = $4
        where session_id = $1 and head = $2 and rules_version <= $4
        returning session_id`,
    },
    [sessionId, head, JSON.stringify(state), RULES_VERSION],
  );
  return rows.length === 1;
}
