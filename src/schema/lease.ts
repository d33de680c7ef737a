/** One row a lane: which relay leads, and how far the feed has come. Lock order: the lease comes first. */
import { sql } from "drizzle-orm";
import { bigint, integer, timestamp, uuid } from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const lease = turnlog.table("lease", {
  lane: integer("lane").primaryKey(),
  /** The relay that leads; null before the first. */
  holder: uuid("holder"),
  /** Raised at each change of leader: a former leader's drain finds another fence and does nothing. */
  fence: bigint("fence", { mode: "number" }).notNull().default(0),
  /** When another relay may take over, on the database clock. */
  until: timestamp("until", { withTimezone: true }).notNull().defaultNow(),
  /** Position of the newest row of the feed. */
  lastPosition: bigint("last_position", { mode: "bigint" })
    .notNull()
    .default(sql`0`),
  /** Outbox id up to which every row is drained or can no longer appear. */
  floorId: bigint("floor_id", { mode: "number" }).notNull().default(0),
  /** Candidate for the next floor, and the transaction id that must be over, with all before it; 0 = not noted yet. */
  nextFloorId: bigint("next_floor_id", { mode: "number" }).notNull().default(0),
  nextFloorXid: bigint("next_floor_xid", { mode: "bigint" })
    .notNull()
    .default(sql`0`),
});
