/** One row for each time a session was given a title. */
import { boolean, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../columns.ts";

export const titlesTable = pgTable(
  "titles",
  {
    sessionId: idText("session_id").notNull(),
    seq: safeBigint("seq").notNull(),
    title: text("title").notNull(),
    /** `fallback`, `provider` or `user`. */
    source: text("source").notNull(),
    /** True for the latest in the log. */
    isCurrent: boolean("is_current").notNull(),
    /** Time of the event, epoch ms. */
    timeMs: safeBigint("time_ms").notNull(),
  },
  (table) => [
    primaryKey({ name: "titles_pkey", columns: [table.sessionId, table.seq] }),
  ],
);
