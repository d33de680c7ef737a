/** Events that an operator had a build pass over: its rows are the fold of the log without them. */
import {
  bigint,
  integer,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const skippedEvents = turnlog.table(
  "skipped_events",
  {
    sessionId: idText("session_id").notNull(),
    build: integer("build").notNull(),
    incarnation: uuid("incarnation").notNull(),
    seq: bigint("seq", { mode: "number" }).notNull(),
    /** Code of the failure that it was skipped for, without any content. */
    errorCode: text("error_code").notNull(),
    skippedAt: timestamp("skipped_at", { withTimezone: true })
      .notNull()
      .defaultNow(),
  },
  (table) => [
    primaryKey({
      name: "skipped_events_pkey",
      columns: [table.sessionId, table.build, table.incarnation, table.seq],
    }),
  ],
);
