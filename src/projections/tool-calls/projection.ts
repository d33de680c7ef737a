/** The `tool_calls` projection: its fold, table and view. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { applyToolCalls, initToolCalls } from "./fold.ts";
import { toolCallsTable } from "./tables.ts";

export const toolCalls = defineProjection({
  name: "tool_calls",
  version: 1,
  tables: { toolCalls: toolCallsTable },
  handles: [
    "turn/start",
    "turn/end",
    "assistant/message",
    "tool/call",
    "tool/result",
  ],
  init: initToolCalls,
  apply: applyToolCalls,
  views: [
    {
      name: "tool_calls",
      about: "One row for each tool call that the model asked for.",
      columns: {
        session_id: "The session.",
        seq: "Seq of the answer that asks for it; of the call itself where no answer does.",
        ordinal: "Place among the calls of that answer, from 1.",
        turn: "Turn of the answer; null outside of any.",
        step: "Step of the answer; null outside of any.",
        call_id: "Id that the provider gave it; it may repeat.",
        name: "Name of the tool.",
        arguments:
          "Its arguments as the model wrote them, which need not be valid JSON.",
        inherited:
          "True in the prefix that the session has from its parent, where it is counted already.",
        call_seq:
          "Seq of the event that it starts; null when that was never recorded.",
        result_seq: "Seq of its result; null when there is none.",
        started_ms:
          "When it started, epoch ms; null when that was never recorded.",
        started_at:
          "The same as timestamptz; null outside the years 1 to 9999.",
        duration_ms:
          "From start to result, ms; null when one of them was never recorded.",
        outcome:
          "ok; error; interrupted: started, and its outcome is not known; not_started; pending: its turn is open and it has no result yet.",
        error_code: "Code of the failure; null when there is none.",
        result_text:
          "Readable text of the result as it was recorded, whatever took its place later; null when there is none.",
      },
      select: (table) => `
        select session_id, seq, ordinal, turn, step, call_id, name, arguments, inherited, call_seq, result_seq,
               started_ms, ${asTimestamp("started_ms")} as started_at, duration_ms, outcome, error_code, result_text
        from ${table("tool_calls")}`,
    },
  ],
});
