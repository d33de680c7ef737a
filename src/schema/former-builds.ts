/** Builds that are over, so that their numbers are never given again, and how they ended. */
import { sql } from "drizzle-orm";
import { boolean, check, integer, text, timestamp } from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const formerBuilds = turnlog.table(
  "former_builds",
  {
    number: integer("number").primaryKey(),
    projection: text("projection").notNull(),
    version: integer("version").notNull(),
    /** `cancelled`: it never was live; `dropped`: it had been. */
    outcome: text("outcome").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull(),
    endedAt: timestamp("ended_at", { withTimezone: true })
      .notNull()
      .defaultNow(),
    rebuild: integer("rebuild"),
    /** True until its checkpoints are deleted. */
    hasCheckpoints: boolean("has_checkpoints").notNull().default(true),
  },
  (table) => [
    check(
      "former_builds_outcome_check",
      sql`${table.outcome} in ('cancelled', 'dropped')`,
    ),
  ],
);
