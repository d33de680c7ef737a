/** The sessions of a rebuild in portions: each is claimed by one process, and goes on where another left it. */
import {
  bigint,
  integer,
  primaryKey,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const rebuildRanges = turnlog.table(
  "rebuild_ranges",
  {
    rebuild: integer("rebuild").notNull(),
    range: integer("range").notNull(),
    /** Sessions from this id. */
    fromId: idText("from_id").notNull(),
    /** Sessions below this id; null: all that come after. */
    untilId: idText("until_id"),
    /** Sessions and events in it when it was cut. */
    sessions: integer("sessions").notNull(),
    events: bigint("events", { mode: "number" }).notNull(),
    /** Of them, those that are in the tables. */
    doneSessions: integer("done_sessions").notNull().default(0),
    doneEvents: bigint("done_events", { mode: "number" }).notNull().default(0),
    /** The process that replays it, and until when it may be silent. */
    holder: uuid("holder"),
    heldUntil: timestamp("held_until", { withTimezone: true })
      .notNull()
      .defaultNow(),
    /** When it last got on. */
    movedAt: timestamp("moved_at", { withTimezone: true }),
    doneAt: timestamp("done_at", { withTimezone: true }),
  },
  (table) => [
    primaryKey({
      name: "rebuild_ranges_pkey",
      columns: [table.rebuild, table.range],
    }),
  ],
);
