/**
 * The log. A row is one event, or a run of consecutive deltas of one block: then `type` is the storage
 * tag, `seq` and `time_ms` are those of the first event, and `payload` is the packed form.
 */
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  integer,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from "drizzle-orm/pg-core";
import { digestBytes, idText, turnlog } from "./turnlog-schema.ts";

export const events = turnlog.table(
  "events",
  {
    /** Position of the (first) event in its session, from 0, without gaps. */
    seq: bigint("seq", { mode: "number" }).notNull(),
    /** Time of the (first) event, epoch ms; may repeat, go backwards or be negative. */
    timeMs: bigint("time_ms", { mode: "number" }).notNull(),
    /** `data.turn` and `data.step` where the event names them as integers. */
    turn: bigint("turn", { mode: "number" }),
    step: bigint("step", { mode: "number" }),
    /** How many events the row holds; 1 unless it is a run. */
    eventCount: integer("event_count").notNull(),
    /** On the first row of an append: how many events the append had. */
    appendEvents: integer("append_events"),
    /** True when readers that do not know the type may pass over it. */
    ignorable: boolean("ignorable").notNull(),
    sessionId: idText("session_id").notNull(),
    /** Event type, or the storage tag of a run. */
    type: idText("type").notNull(),
    /** On the first row of an append: its identity and the digest of what the caller sent. */
    appendId: uuid("append_id"),
    appendDigest: digestBytes("append_digest"),
    /** `append`, or the JSON text of a replace operation; null off the surface. */
    surfaceOp: text("surface_op"),
    /** Provenance as runs, `{4-95,97}`; `{}` is an empty list, null is none given. */
    sourceEventSeqs: text("source_event_seqs"),
    /** Order of the event's keys where its writer's is not the canonical one. */
    keyOrder: text("key_order"),
    /** Exact JSON text of `data`, or of the run. */
    payload: text("payload").notNull(),
  },
  (table) => [
    primaryKey({ name: "events_pkey", columns: [table.sessionId, table.seq] }),
    uniqueIndex("events_session_id_append_id_idx")
      .on(table.sessionId, table.appendId)
      .where(sql`${table.appendId} is not null`),
  ],
);
