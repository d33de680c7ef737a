/** Event types beyond the known ones that this store takes and gives back: those of plugins. */
import { text, timestamp } from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const eventTypes = turnlog.table("event_types", {
  type: idText("type").primaryKey(),
  /** What writes it and what it means, for whoever meets it in a log. */
  description: text("description").notNull(),
  createdAt: timestamp("created_at", { withTimezone: true })
    .notNull()
    .defaultNow(),
});
