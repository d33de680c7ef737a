/** Sessions whose read tables may be behind; a row goes when every healthy build has applied it. */
import { bigint, index, integer, timestamp } from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const work = turnlog.table(
  "work",
  {
    sessionId: idText("session_id").primaryKey(),
    /** The builds should have applied every event below this: it is the next seq after a fact. */
    nextSeq: bigint("next_seq", { mode: "number" }).notNull(),
    /** Since when the session is behind. */
    since: timestamp("since", { withTimezone: true }).notNull().defaultNow(),
    /** When the sweep rings for it again, and how often it has. */
    ringAt: timestamp("ring_at", { withTimezone: true }).notNull(),
    rings: integer("rings").notNull().default(0),
    /** A claim loop that took the session has it until then. */
    claimedUntil: timestamp("claimed_until", { withTimezone: true }).notNull(),
  },
  (table) => [
    index("work_ring_at_idx").on(table.ringAt),
    index("work_claimed_until_idx").on(table.claimedUntil),
  ],
);
