/** The `titles` projection: every title a session had; the latest in the log is the current one. */
import { defineProjection } from "../../projector/projection.ts";
import { asTimestamp } from "../columns.ts";
import { readTitle } from "../../events/title.ts";
import { titlesTable } from "./tables.ts";

interface TitlesState {
  /** Seq of the current title; null before the first. */
  readonly currentSeq: number | null;
}

export const titles = defineProjection({
  name: "titles",
  version: 1,
  tables: { titles: titlesTable },
  handles: ["session/title"],
  init: (): TitlesState => ({ currentSeq: null }),
  apply(state, event, rows) {
    const title = readTitle(event.data);
    if (title === null) return state;
    const { sessionId, seq, time: timeMs } = event;
    if (state.currentSeq !== null)
      rows.titles.update({
        sessionId,
        seq: state.currentSeq,
        isCurrent: false,
      });
    rows.titles.upsert({ sessionId, seq, ...title, isCurrent: true, timeMs });
    return { currentSeq: seq };
  },
  views: [
    {
      name: "titles",
      about: "One row for each title that a session was given.",
      columns: {
        session_id: "The session.",
        seq: "Seq of its event.",
        title: "The title as the log has it.",
        source:
          "fallback: the first words of a prompt; provider: made by a provider of titles; user: given by a person.",
        is_current: "True for the latest in the log.",
        time_ms: "Time of its event, epoch ms.",
        time_at: "The same as timestamptz; null outside the years 1 to 9999.",
      },
      select: (table) => `
        select session_id, seq, title, source, is_current, time_ms, ${asTimestamp("time_ms")} as time_at
        from ${table("titles")}`,
    },
  ],
});
