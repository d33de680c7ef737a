/** A projection of your own: how many tool calls a session made, and how many failed. */
import { pgTable, primaryKey } from "drizzle-orm/pg-core";
// In your own project: from "turnlog".
import { defineProjection, idText, safeBigint } from "../../src/index.ts";

const toolStatsTable = pgTable(
  "tool_stats",
  {
    sessionId: idText("session_id").notNull(),
    calls: safeBigint("calls").notNull(),
    failures: safeBigint("failures").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId] })],
);

export const toolStats = defineProjection({
  name: "tool_stats",
  version: 1,
  tables: { toolStats: toolStatsTable },
  handles: ["tool/call", "tool/result"],
  init: () => ({ calls: 0, failures: 0 }),
  apply({ calls, failures }, event, rows) {
    const next =
      event.type === "tool/call"
        ? { calls: calls + 1, failures }
        : { calls, failures: failures + (event.data.error ? 1 : 0) };
    rows.toolStats.upsert({ sessionId: event.sessionId, ...next });
    return next;
  },
});

// The default export of turnlog.config.ts (or .mjs, .js): then `turnlog migrate` and `turnlog start`.
export default { projections: [toolStats] };
