/** The lock row of a session: whoever folds it holds this row, so that one projector at a time does. */
import { idText, turnlog } from "./turnlog-schema.ts";

export const projectionSessions = turnlog.table("projection_sessions", {
  sessionId: idText("session_id").primaryKey(),
});
