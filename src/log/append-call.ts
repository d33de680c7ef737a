/** The one statement of the write path, and the look before it. */
import type { Queryable } from "../db/connect.ts";
import { RULES_VERSION, type RulesState } from "../events/rules/rules.ts";
import type { Creation } from "./append-request.ts";
import type { EncodedAppend } from "./encode-append.ts";

export interface AppendCall {
  readonly sessionId: string;
  readonly appendId: string;
  readonly expectedSeq: number;
  /** The one whose state the batch was checked against; for a new session the one it gets. */
  readonly incarnation: string;
  /** Null unless `expectedSeq` is 0. */
  readonly creation: Creation | null;
  /** After the batch. */
  readonly state: RulesState;
  readonly batch: EncodedAppend;
  /** Null for an append of nobody who holds the session. */
  readonly writer?: WriterHold | null;
}

/** Who appends, and for how long that shows it to be alive, in ms. */
interface WriterHold {
  readonly epoch: number;
  readonly holdMs: number;
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
      $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`,
};

/** The same for the writer that creates the session: it holds it from the commit on. */
const CREATE_HELD = {
  name: "turnlog_create_held",
  text: `
    select a.outcome, a.first_seq, a.next_seq, a.epoch,
           case when a.outcome = 'appended'
                then turnlog.hold_writer_v1($1, a.incarnation, a.epoch, $7) end as held_epoch
    from turnlog.append_v1(
      $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
      $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24) a`,
};

/** Sends the append once. Locks the session row for the length of the statement. */
export async function callAppend(
  db: Queryable,
  call: AppendCall,
  timeoutMs?: number,
): Promise<AppendAnswer> {
  const { batch, creation, writer = null } = call;
  const isHeldCreation = writer !== null && creation !== null;
  const identity = [
    call.sessionId,
    call.appendId,
    batch.digest,
    call.expectedSeq,
    call.incarnation,
  ];
  const hold = [
    isHeldCreation ? null : (writer?.epoch ?? null),
    writer?.holdMs ?? null,
  ];
  const created = [
    creation?.headerText ?? null,
    creation?.tenant ?? null,
    creation?.recreate ?? false,
  ];
  const shape = [
    RULES_VERSION,
    JSON.stringify(call.state),
    batch.eventCount,
    batch.factsEnd,
  ];
  const values = [...identity, ...hold, ...created, ...shape, ...batch.columns];
  const statement = isHeldCreation ? CREATE_HELD : APPEND;
  const [answer] = await db.rows<AppendAnswer>(
    timeoutMs === undefined ? statement : { ...statement, timeoutMs },
    values,
  );
  if (answer === undefined) throw new Error("append_v1 returned no row");
  return answer;
}

/** Where a session stands, and where in it this append id is stored, if it is. */
export interface Standing {
  readonly head: number;
  readonly deleted: boolean;
  readonly first_seq: number | null;
  readonly next_seq: number | null;
  readonly digest: Buffer | null;
}

/** Null when there is no such session. */
export async function readStanding(
  db: Queryable,
  sessionId: string,
  appendId: string,
): Promise<Standing | null> {
  const [row] = await db.rows<Standing>(
    {
      name: "turnlog_append_standing",
      text: `
        select s.head, s.deleted_at is not null as deleted, e.seq as first_seq, e.seq + e.append_events as next_seq,
               e.append_digest as digest
        from turnlog.sessions s
        left join turnlog.events e on e.session_id = s.session_id and e.append_id = $2
        where s.session_id = $1`,
    },
    [sessionId, appendId],
  );
  return row ?? null;
}
