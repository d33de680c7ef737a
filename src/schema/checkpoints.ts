/** How far a build has folded a session; written in the transaction of the rows it vouches for. */
import {
  bigint,
  index,
  integer,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { sql } from "drizzle-orm";
import { idText, turnlog } from "./turnlog-schema.ts";

export const checkpoints = turnlog.table(
  "checkpoints",
  {
    /** Every event below this is folded. */
    nextSeq: bigint("next_seq", { mode: "number" }).notNull(),
    incarnation: uuid("incarnation").notNull(),
    build: integer("build").notNull(),
    redactionGeneration: integer("redaction_generation").notNull(),
    /** When it first failed at where it stands; null when healthy. */
    failedAt: timestamp("failed_at", { withTimezone: true }),
    /** Failures since the last success. */
    attempts: integer("attempts").notNull().default(0),
    /** Where the last attempt failed; null when not known. */
    errorSeq: bigint("error_seq", { mode: "number" }),
    /** When a failed fold is tried again; null when healthy or parked. */
    nextAt: timestamp("next_at", { withTimezone: true }),
    /** Given up until somebody looks; null when not. */
    parkedAt: timestamp("parked_at", { withTimezone: true }),
    sessionId: idText("session_id").notNull(),
    /** Code of the last failure, without any content. */
    errorCode: text("error_code"),
    /** The fold's state: JSON text. */
    state: text("state").notNull(),
  },
  (table) => [
    primaryKey({
      name: "checkpoints_pkey",
      columns: [table.sessionId, table.build],
    }),
    index("checkpoints_next_at_idx")
      .on(table.nextAt)
      .where(sql`${table.nextAt} is not null`),
    index("checkpoints_parked_at_idx")
      .on(table.parkedAt)
      .where(sql`${table.parkedAt} is not null`),
  ],
);
