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
      about:
        "One row for each message that ever stood on the surface, the list of what the model sees.",
      columns: {
        session_id: "The session.",
        seq: "Seq of its event.",
        order_key:
          "Sorts the surface; a replacement has the key of the first message it took the place of.",
        turn: "Turn it belongs to; null outside of any.",
        step: "Step it belongs to; null outside of any.",
        role: "user or assistant; results of tools are of role user.",
        source_kind:
          "Who made it: user (a person), model, tool, plugin, and others.",
        on_surface: "True when the model sees it in its next request.",
        in_transcript:
          "True when a person saw it; replacements are not part of that.",
        replaced_by_seq: "Event that took its place; null while it has it.",
        interrupted:
          "True for an answer that was cut off, and for the result of a call whose outcome is not known.",
        text: "Readable text of its blocks, those in tool results included; U+FFFD for a NUL or a lone surrogate.",
        content: "Its content blocks: exact JSON text.",
        provider: "Provider of the model that wrote it; null for others.",
        model: "Model that wrote it; null for others.",
        time_ms: "Time of its event, epoch ms.",
        time_at: "The same as timestamptz; null outside the years 1 to 9999.",
      },
      select: (table) => `
        select session_id, seq, order_key, turn, step, role, source_kind, on_surface, in_transcript, replaced_by_seq,
               interrupted, text, content, provider, model, time_ms, ${asTimestamp("time_ms")} as time_at
        from ${table("messages")}`,
    },
  ],
});
