/** Reads the state that an append is checked against, and computes it from the log where it is of older rules. */
import type { Queryable } from "../db/connect.ts";
import { RulesOutdatedError } from "../errors.ts";
import { parseHeader, type SessionHeader } from "../events/header.ts";
import type { SessionId } from "../events/ids.ts";
import { parseJson } from "../events/json.ts";
import {
  followRules,
  initRules,
  RULES_VERSION,
  type RulesState,
} from "../events/rules/rules.ts";
import { ruleEventOf } from "../events/rules/rule-event.ts";
import { readEvents } from "./read.ts";
import type { StateAt } from "./state-cache.ts";

interface Stored {
  readonly head: number;
  readonly incarnation: string;
  readonly rules_version: number;
  readonly state: string;
  readonly header: string;
}

/**
 * State of a session whose head is `head`; null where it is elsewhere, or there is no such session.
 * @throws RulesOutdatedError when it was written under newer rules
 */
export async function readStateAt(
  db: Queryable,
  sessionId: SessionId,
  head: number,
): Promise<StateAt | null> {
  const [row] = await db.rows<Stored>(
    {
      name: "turnlog_session_state",
      text: `
        select head, incarnation, rules_version, state, header
        from turnlog.sessions
        where session_id = $1 and head = $2 and deleted_at is null`,
    },
    [sessionId, head],
  );
  if (row === undefined) return null;
  if (row.rules_version > RULES_VERSION)
    throw new RulesOutdatedError({ sessionId });
  const state: RulesState =
    row.rules_version === RULES_VERSION
      ? JSON.parse(row.state)
      : await computeState(
          db,
          sessionId,
          parseHeader(parseJson(row.header)),
          head,
        );
  return { head, incarnation: row.incarnation, state };
}

/** Folds the rules over the log, whatever they find in it. */
async function computeState(
  db: Queryable,
  sessionId: SessionId,
  header: SessionHeader,
  head: number,
): Promise<RulesState> {
  let state = initRules(header);
  for await (const event of readEvents(db, sessionId, { toSeq: head }))
    state = followRules(state, ruleEventOf(event)).state;
  return state;
}
