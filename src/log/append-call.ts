/** The one statement of the write path, and what its outcomes mean. */
import type { Queryable } from "../db/connect.ts";
import type { EncodedAppend } from "./encode-append.ts";

/** Rules that the state was computed under. Version 0 checks each event by itself and needs no state. */
const RULES_VERSION = 0;
const STATE = "{}";

export interface AppendCall {
  readonly sessionId: string;
  readonly appendId: string;
  readonly expectedSeq: number;
  /** Incarnation of a new session, or the one the caller knows; null for any. */
  readonly incarnation: string | null;
  /** JSON text of the header, for a new session. */
  readonly header: string | null;
  readonly tenant: string | null;
  readonly recreate: boolean;
  readonly batch: EncodedAppend;
}

export interface AppendAnswer {
  readonly outcome:
    | "appended"
    | "duplicate"
    | "reused"
    | "missing"
    | "deleted"
    | "incarnation"
    | "fenced"
    | "rules"
    | "conflict";
  readonly first_seq: number | null;
  readonly next_seq: number | null;
  readonly epoch: number | null;
}

const APPEND = {
  name: "turnlog_append_v1",
  text: `
    select outcome, first_seq, next_seq, epoch
    from turnlog.append_v1(
      $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
      $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25)`,
};

/** Sends the append once and waits `timeoutMs` for the answer. Locks the session row for the length of the statement. */
export async function callAppend(
  db: Queryable,
  call: AppendCall,
  timeoutMs?: number,
): Promise<AppendAnswer> {
  const { batch } = call;
  const identity = [
    call.sessionId,
    call.appendId,
    batch.digest,
    call.expectedSeq,
    call.incarnation,
  ];
  const writer = [null, null];
  const creation = [call.header, call.tenant, call.recreate];
  const shape = [RULES_VERSION, STATE, batch.eventCount, batch.factsEnd];
  const [answer] = await db.rows<AppendAnswer>(
    timeoutMs === undefined ? APPEND : { ...APPEND, timeoutMs },
    [...identity, ...writer, ...creation, ...shape, ...batch.columns],
  );
  if (answer === undefined) throw new Error("append_v1 returned no row");
  return answer;
}

/** Where a session stands for an append: its head, and whether this append id is in it already. */
export interface Standing {
  readonly head: number;
  readonly first_seq: number | null;
}

/** Looks before an append that goes wherever the head is; a session that does not exist has head 0. */
export async function readStanding(
  db: Queryable,
  sessionId: string,
  appendId: string,
): Promise<Standing> {
  const [row] = await db.rows<Standing>(
    {
      name: "turnlog_append_standing",
      text: `
        select s.head, e.seq as first_seq
        from turnlog.sessions s
        left join turnlog.events e on e.session_id = s.session_id and e.append_id = $2
        where s.session_id = $1 and s.deleted_at is null`,
    },
    [sessionId, appendId],
  );
  return row ?? { head: 0, first_seq: null };
}
