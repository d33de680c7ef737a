/** The `sessions` projection: one row a session. Head and tenant come from the log itself. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { applySessions, initSessions, sessionsWantDeltas } from "./fold.ts";
import { sessionTotals } from "./session-totals.ts";
import { sessionsTable } from "./tables.ts";

export const sessions = defineProjection({
  name: "sessions",
  version: 2,
  tables: { sessions: sessionsTable },
  handles: "all",
  deltas: sessionsWantDeltas,
  init: initSessions,
  apply: applySessions,
  views: [
    {
      name: "sessions",
      about: "One row for each session.",
      columns: {
        session_id: "The session; compared byte by byte.",
        title: "Current title as the log has it; null before the first.",
        title_source:
          "Where that title comes from: fallback, provider or user; null before the first.",
        display_title:
          "A title to show: that one, else made of the first prompt that was not cut off, else of a command's arguments; cleaned, at most 80 bytes of UTF-8, cut between characters; null while nobody has said anything.",
        tenant: "Label given at creation; null when none was.",
        parent_session_id:
          "Session it was forked from or delegated by, which need not be stored; null when there is none.",
        origin: "subagent for a delegated session; null for others.",
        cwd: "Working directory; null when not given.",
        created_ms: "Creation, epoch ms.",
        created_at:
          "The same as timestamptz; null outside the years 1 to 9999.",
        last_prompt_ms:
          "Last prompt by a person, epoch ms; null before the first.",
        last_prompt_at:
          "The same as timestamptz; null outside the years 1 to 9999.",
        activity_ms:
          "The later of created_ms and last_prompt_ms, by which a list is best ordered, epoch ms.",
        activity_at:
          "The same as timestamptz; null outside the years 1 to 9999.",
        last_event_ms: "Last event that is not a streamed delta, epoch ms.",
        last_event_at:
          "The same as timestamptz; null outside the years 1 to 9999.",
        head: "Events in the log now, whether or not they are in this row.",
        turn_count: "Turns begun.",
        step_count: "Steps ended.",
        status:
          "open in a turn; interrupted when a recovery closed the last one; idle otherwise.",
        context_tokens:
          "Input of the latest request that reported any, cached or not, in tokens; null when none did.",
        context_window:
          "Tokens that fit in the model's context; null when not known.",
        is_context_over:
          "True when context_tokens is above context_window: one of the two can't be right; null when one is not known.",
        reference_token_usage:
          "The harness' own token sums over the whole log, exact JSON text; retries of a step overwrite each other in it.",
        reference_session_stats:
          "The harness' own turn, step and timing figures over the whole log, exact JSON text.",
        as_of_seq: "Last event in this row.",
      },
      select: (table) => `
        select r.session_id, r.title, r.title_source, r.display_title, s.tenant, r.parent_session_id, r.origin, r.cwd,
               r.created_ms, ${asTimestamp("r.created_ms")} as created_at,
               r.last_prompt_ms, ${asTimestamp("r.last_prompt_ms")} as last_prompt_at,
               r.activity_ms, ${asTimestamp("r.activity_ms")} as activity_at,
               r.last_event_ms, ${asTimestamp("r.last_event_ms")} as last_event_at,
               s.head, r.turn_count, r.step_count, r.status,
               r.context_tokens, r.context_window, r.context_tokens > r.context_window as is_context_over,
               r.reference_token_usage, r.reference_session_stats, r.as_of_seq
        from ${table("sessions")} r
        join turnlog.sessions s on s.session_id = r.session_id
        where s.deleted_at is null`,
    },
    sessionTotals,
  ],
});
