/** The `messages` projection: its fold, tables and view. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { applyMessages, initMessages } from "./fold.ts";
import { messagesTable } from "./tables.ts";

export const messages = defineProjection({
  name: "messages",
  version: 1,
  tables: { messages: messagesTable },
  handles: [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "user/message",
    "assistant/message",
    "tool/result",
  ],
  init: initMessages,
  apply: applyMessages,
  views: [
    {
      name: "messages",
      select: (table) => `
        select session_id, seq, order_key, turn, step, role, source_kind, on_surface, in_transcript, replaced_by_seq,
               interrupted, text, content, provider, model, time_ms, ${asTimestamp("time_ms")} as time_at
        from ${table("messages")}`,
    },
  ],
});
