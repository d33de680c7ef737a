/** One row an append, written in its commit and deleted by the relay: a promise to tell the projections. */
import {
  bigint,
  index,
  primaryKey,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { idText, turnlog } from "./turnlog-schema.ts";

export const outbox = turnlog.table(
  "outbox",
  {
    /** Only says which rows are oldest; nothing else rests on its order. */
    id: bigint("id", { mode: "number" }).notNull().generatedAlwaysAsIdentity(),
    firstSeq: bigint("first_seq", { mode: "number" }).notNull(),
    nextSeq: bigint("next_seq", { mode: "number" }).notNull(),
    incarnation: uuid("incarnation").notNull(),
    /** Next seq after the append's last event that is not a delta; null when it held nothing but deltas. */
    factsNextSeq: bigint("facts_next_seq", { mode: "number" }),
    /** When the append's transaction began; tells how long it has waited. */
    since: timestamp("since", { withTimezone: true }).notNull().defaultNow(),
    sessionId: idText("session_id").notNull(),
  },
  (table) => [
    primaryKey({
      name: "outbox_pkey",
      columns: [table.sessionId, table.firstSeq],
    }),
    index("outbox_id_idx").on(table.id),
  ],
);
