/**
 * A build is one materialisation of a projection: its tables live in the schema `turnlog_b<number>`. Every row here is
 * fed by the projectors that have its version; a build that is over is moved to `former_builds`.
 */
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
    /**
     * `building`: old sessions are replayed; `feeding`: it has them all, but was not swapped yet; `live`: the read
     * views point at it; `kept`: it was live before, for a rollback.
     */
    status: text("status").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true })
      .notNull()
      .defaultNow(),
    /** When the views were last pointed at it; null before. */
    liveAt: timestamp("live_at", { withTimezone: true }),
    /** The rebuild that made it; null for the first build of a projection. */
    rebuild: integer("rebuild"),
  },
  (table) => [
    check(
      "builds_status_check",
      sql`${table.status} in ('building', 'feeding', 'live', 'kept')`,
    ),
    uniqueIndex("builds_projection_live_idx")
      .on(table.projection)
      .where(sql`${table.status} = 'live'`),
  ],
);
