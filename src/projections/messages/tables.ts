/** One row for each event that ever stood on the surface. */
import { boolean, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { idText, safeBigint } from "../columns.ts";

export const messagesTable = pgTable(
  "messages",
  {
    sessionId: idText("session_id").notNull(),
    /** Seq of the event. */
    seq: safeBigint("seq").notNull(),
    /** Sorts the surface: a replacement takes the key of the first message it replaces. */
    orderKey: safeBigint("order_key").notNull(),
    /** Turn and step the message belongs to; null outside of them. */
    turn: safeBigint("turn"),
    step: safeBigint("step"),
    role: text("role").notNull(),
    /** Who spoke: `user` is a human, `model`, `tool`, `plugin` and others are not. */
    sourceKind: text("source_kind").notNull(),
    /** True when the model sees it in its next request. */
    onSurface: boolean("on_surface").notNull(),
    /** True when a person saw it in the conversation; replacements are not part of that. */
    inTranscript: boolean("in_transcript").notNull(),
    /** Seq of the event that took its place; null while it has it. */
    replacedBySeq: safeBigint("replaced_by_seq"),
    /** Cut off by a cancel, or a tool call whose outcome was never recorded. */
    interrupted: boolean("interrupted").notNull(),
    /** Readable text; NUL and lone surrogates replaced. */
    text: text("text").notNull(),
    /** Content blocks: exact JSON text. */
    content: text("content").notNull(),
    /** Of the model that wrote it; null for other messages. */
    provider: text("provider"),
    model: text("model"),
    /** Time of the event, epoch ms. */
    timeMs: safeBigint("time_ms").notNull(),
  },
  (table) => [
    primaryKey({
      name: "messages_pkey",
      columns: [table.sessionId, table.seq],
    }),
    index("messages_session_id_order_key_idx").on(
      table.sessionId,
      table.orderKey,
    ),
  ],
);
