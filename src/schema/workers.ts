/** Projectors that run, and the versions they can feed: they say so every few seconds, on the database's clock. */
import {
  integer,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { turnlog } from "./turnlog-schema.ts";

export const workers = turnlog.table(
  "workers",
  {
    worker: uuid("worker").notNull(),
    projection: text("projection").notNull(),
    version: integer("version").notNull(),
    /** Until when it counts as alive. */
    aliveUntil: timestamp("alive_until", { withTimezone: true }).notNull(),
  },
  (table) => [
    primaryKey({
      name: "workers_pkey",
      columns: [table.worker, table.projection],
    }),
  ],
);
