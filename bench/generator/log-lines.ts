/** The JSONL form of a generated log: a header, then an event a line, or a run of deltas. */
import { isRun, packRuns } from "../../src/events/pack-runs.ts";
import type { GeneratedSession } from "./session.ts";

/** Yields the lines without their line feeds. Holds at most one step of the log. */
export function* logLines(
  session: GeneratedSession,
  form: { readonly packed: boolean },
): Generator<string> {
  yield JSON.stringify({ type: "session", ...session.header });
  const rows = form.packed ? packRuns(session.events) : session.events;
  for (const row of rows) {
    if (!isRun(row)) yield JSON.stringify(row);
    else {
      const { type, seq0, time0, data } = row;
      yield JSON.stringify({ type, seq0, time0, data });
    }
  }
}
