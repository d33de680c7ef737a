/** Types of `defineProjection`, checked by the compiler: nothing here runs. */
import { integer, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { defineProjection, idText } from "../../src/index.ts";

const table = pgTable(
  "typed",
  {
    sessionId: idText("session_id").notNull(),
    turn: integer("turn").notNull(),
    note: text("note"),
  },
  (columns) => [primaryKey({ columns: [columns.sessionId, columns.turn] })],
);

export const typed = defineProjection({
  name: "typed",
  version: 1,
  tables: { typed: table },
  handles: ["turn/end", "tool/call", "plugin/mine"],
  init: () => ({ count: 0 }),
  apply(state, event, rows) {
    const { sessionId } = event;
    switch (event.type) {
      case "turn/end": {
        const reason: string = event.data.reason.kind;
        rows.typed.upsert({ sessionId, turn: event.data.turn, note: reason });
        // @ts-expect-error a column that is not there
        rows.typed.upsert({ sessionId, turn: 1, other: 1 });
        // @ts-expect-error a column that must not be null is missing
        rows.typed.upsert({ sessionId });
        // @ts-expect-error a value of another type
        rows.typed.update({ sessionId, turn: "1" });
        // @ts-expect-error a table that is not there
        rows.other.upsert({ sessionId });
        return state;
      }
      case "tool/call":
        // @ts-expect-error another event's data
        return { count: event.data.reason };
      case "plugin/mine":
        // @ts-expect-error data of a type that nobody knows is any JSON
        return { count: event.data.count };
      // @ts-expect-error a type that is not handled
      case "turn/start":
        return state;
      default:
        return state;
    }
  },
});

export const all = defineProjection({
  name: "all",
  version: 1,
  tables: { typed: table },
  handles: "all",
  init: () => null,
  apply(state, event) {
    const type: string = event.type;
    return type === "" ? null : state;
  },
});
