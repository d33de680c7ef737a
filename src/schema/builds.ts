/** A build is one materialisation of a projection: its tables live in the schema `turnlog_b<number>`. */
import { sql } from "drizzle-orm";
import {
  check,
  integer,
  text,
  timestamp,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const builds = turnlog.table(
  "builds",
  {
    number: integer("number").primaryKey(),
    projection: text("projection").notNull(),
    /** Version of the projection whose fold feeds it. */
    version: integer("version").notNull(),
    /** `live`: the read views point at it; `building`: not yet. */
    status: text("status").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true })
      .notNull()
      .defaultNow(),
    liveAt: timestamp("live_at", { withTimezone: true }),
  },
  (table) => [
    check("builds_status_check", sql`${table.status} in ('building', 'live')`),
    uniqueIndex("builds_projection_live_idx")
      .on(table.projection)
      .where(sql`${table.status} = 'live'`),
  ],
);
