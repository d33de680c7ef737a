/** As a user's own, on the package as it is built. */
import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import {
  defineProjection,
  idText,
  safeBigint,
} from "../../../node_modules/.turnlog-test/src/index.js";

const prompts = pgTable(
  "prompts",
  {
    sessionId: idText("session_id").notNull(),
    seq: safeBigint("seq").notNull(),
    id: text("id").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.seq] })],
);

export default {
  projections: [
    defineProjection({
      name: "prompts",
      version: 1,
      tables: { prompts },
      handles: ["user/message"],
      init: () => null,
      apply(state, { sessionId, seq, data }, rows) {
        rows.prompts.upsert({ sessionId, seq, id: data.id });
        return state;
      },
    }),
  ],
};
