/** The `sessions` projection: one row a session. Head and tenant come from the log itself. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { applySessions, initSessions, sessionsWantDeltas } from "./fold.ts";
import { sessionsTable } from "./tables.ts";

export const sessions = defineProjection({
  name: "sessions",
  version: 1,
  tables: { sessions: sessionsTable },
  handles: "all",
  deltas: sessionsWantDeltas,
  init: initSessions,
  apply: applySessions,
  views: [
    {
      name: "sessions",
      select: (table) => `
        select r.session_id, r.title, r.title_source, s.tenant, r.parent_session_id, r.origin, r.cwd,
               r.created_ms, ${asTimestamp("r.created_ms")} as created_at,
               r.last_prompt_ms, ${asTimestamp("r.last_prompt_ms")} as last_prompt_at,
               r.activity_ms, ${asTimestamp("r.activity_ms")} as activity_at,
               r.last_event_ms, ${asTimestamp("r.last_event_ms")} as last_event_at,
               s.head, r.turn_count, r.step_count, r.status,
               r.reference_token_usage, r.reference_session_stats, r.as_of_seq
        from ${table("sessions")} r
        join turnlog.sessions s on s.session_id = r.session_id
        where s.deleted_at is null`,
    },
  ],
});
