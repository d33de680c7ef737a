/** Every append of the store in the order the relay gave it: positions are contiguous within a lane. */
import {
  bigint,
  boolean,
  integer,
  primaryKey,
  uuid,
} from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const feed = turnlog.table(
  "feed",
  {
    position: bigint("position", { mode: "bigint" }).notNull(),
    firstSeq: bigint("first_seq", { mode: "number" }).notNull(),
    nextSeq: bigint("next_seq", { mode: "number" }).notNull(),
    incarnation: uuid("incarnation").notNull(),
    lane: integer("lane").notNull(),
    hasFacts: boolean("has_facts").notNull(),
    sessionId: idText("session_id").notNull(),
  },
  (table) => [
    primaryKey({ name: "feed_pkey", columns: [table.lane, table.position] }),
  ],
);
