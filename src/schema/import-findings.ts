/** Rules that a log broke when it was imported as it is: what an operator accepted then, and what came later. */
import { bigint, primaryKey, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const importFindings = turnlog.table(
  "import_findings",
  {
    sessionId: idText("session_id").notNull(),
    /** Of the session as it was imported; a re-created id is another session. */
    incarnation: uuid("incarnation").notNull(),
    /** Event that breaks the rule. */
    seq: bigint("seq", { mode: "number" }).notNull(),
    /** Name of the rule, as `turnlog check` prints it. */
    rule: idText("rule").notNull(),
    /** Where in the event; empty for the event itself. */
    path: idText("path").notNull(),
    reason: text("reason").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true })
      .notNull()
      .defaultNow(),
  },
  (table) => [
    primaryKey({
      name: "import_findings_pkey",
      columns: [
        table.sessionId,
        table.incarnation,
        table.seq,
        table.rule,
        table.path,
      ],
    }),
  ],
);
