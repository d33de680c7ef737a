/** A rebuild makes new builds of one or several projections together and swaps them at once. */
import { sql } from "drizzle-orm";
import { check, integer, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const rebuilds = turnlog.table(
  "rebuilds",
  {
    number: integer("number").primaryKey(),
    /** Where it stands; `done` and `cancelled` are ends. */
    step: text("step").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true })
      .notNull()
      .defaultNow(),
    /** When the last old session was replayed; null before. */
    replayedAt: timestamp("replayed_at", { withTimezone: true }),
    endedAt: timestamp("ended_at", { withTimezone: true }),
    /** The process that does what comes after the replay, and until when it may be silent. */
    holder: uuid("holder"),
    heldUntil: timestamp("held_until", { withTimezone: true })
      .notNull()
      .defaultNow(),
    /** Why it stands still, or what it waits for; null while it gets on. */
    trouble: text("trouble"),
  },
  (table) => [
    check(
      "rebuilds_step_check",
      sql`${table.step} in ('replaying', 'indexing', 'feeding', 'verifying', 'swapping', 'done', 'cancelled')`,
    ),
  ],
);
