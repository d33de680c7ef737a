/** One row a session: its immutable header, where its log ends, and who may write. */
import { bigint, integer, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const sessions = turnlog.table("sessions", {
  sessionId: idText("session_id").primaryKey(),
  /** Made at creation; a re-created id is another session. */
  incarnation: uuid("incarnation").notNull(),
  /** Number of events = seq of the next one. */
  head: bigint("head", { mode: "number" }).notNull(),
  /** Next seq after the last event that is not a streamed delta; 0 when there is none. */
  factsHead: bigint("facts_head", { mode: "number" }).notNull(),
  /** Epoch of the current writer; raised by each take-over. */
  writerEpoch: bigint("writer_epoch", { mode: "number" }).notNull().default(0),
  /** Until when the current writer counts as alive, on the database clock; null when none holds the session. */
  writerUntil: timestamp("writer_until", { withTimezone: true }),
  /** Raised by each redaction; a reader that started before starts again. */
  redactionGeneration: integer("redaction_generation").notNull().default(0),
  /** Rules the state was computed under. */
  rulesVersion: integer("rules_version").notNull(),
  /** What checking the next append needs from the past: JSON text of the client. */
  state: text("state").notNull(),
  /** Exact JSON text of the header, immutable. */
  header: text("header").notNull(),
  /** Optional label of the owner, given at creation. */
  tenant: text("tenant"),
  createdAt: timestamp("created_at", { withTimezone: true })
    .notNull()
    .defaultNow(),
  /** Set by deletion: the row stays as a tombstone. */
  deletedAt: timestamp("deleted_at", { withTimezone: true }),
});
