/** The `turns` projection: its fold, table and view. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { applyTurns, initTurns, turnsWantDeltas } from "./fold.ts";
import { turnsTable } from "./tables.ts";

export const turns = defineProjection({
  name: "turns",
  version: 1,
  tables: { turns: turnsTable },
  handles: [
    "turn/start",
    "turn/end",
    "step/start",
    "step/end",
    "assistant/chunk",
    "assistant/message",
    "tool/call",
    "tool/result",
  ],
  deltas: turnsWantDeltas,
  init: initTurns,
  apply: applyTurns,
  views: [
    {
      name: "turns",
      about: "One row for each turn.",
      columns: {
        session_id: "The session.",
        turn: "Number of the turn in its session; null where its start names none.",
        start_seq: "Seq of the event that began it.",
        end_seq: "Seq of the event that ended it; null while it is open.",
        reason:
          "completed, aborted, blocked, error, max-tokens, interrupted (closed by a recovery), or a kind of a later version; null while it is open.",
        inherited:
          "True in the prefix that the session has from its parent, where it is counted already.",
        step_count: "Steps that ended in it.",
        started_ms: "Its start, epoch ms.",
        started_at:
          "The same as timestamptz; null outside the years 1 to 9999.",
        duration_ms: "From start to end, ms; null while it is open.",
        model_ms:
          "From each step's start to its answer, ms, summed over the steps that got one.",
        tool_ms:
          "From each tool call to its result, ms, summed; calls that run side by side are each counted.",
        first_token_ms:
          "From each step's start to its first token, ms, summed over first_token_steps steps.",
        first_token_steps: "Answered steps whose first token was recorded.",
        decode_ms:
          "From first token to answer, ms, summed over the steps that reported their output tokens.",
        decode_tokens: "Output tokens of those steps.",
      },
      select: (table) => `
        select session_id, turn, start_seq, end_seq, reason, inherited, step_count,
               started_ms, ${asTimestamp("started_ms")} as started_at,
               duration_ms, model_ms, tool_ms, first_token_ms, first_token_steps, decode_ms, decode_tokens
        from ${table("turns")}`,
    },
  ],
});
