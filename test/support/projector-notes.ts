/** Projections as a user might write them: one row for each note or streamed delta, and trouble with some of them. */
import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { member } from "../../src/events/event.ts";
import { idText, safeBigint } from "../../src/projections/columns.ts";
import {
  defineProjection,
  type Projection,
} from "../../src/projector/projection.ts";

const noteLines = pgTable(
  "note_lines",
  {
    sessionId: idText("session_id").notNull(),
    seq: safeBigint("seq").notNull(),
    /** How many notes there were before. */
    earlier: safeBigint("earlier").notNull(),
    text: text("text").notNull(),
  },
  (table) => [
    primaryKey({
      name: "note_lines_pkey",
      columns: [table.sessionId, table.seq],
    }),
  ],
);

interface NotesState {
  notes: number;
}

/**
 * A projection of notes.
 * @param write what a note's text becomes; called after the row is there and the state is changed
 */
export function notesProjection(
  name: string,
  write: (text: string) => string = (line) => line,
  version = 1,
): Projection {
  return defineProjection({
    name,
    version,
    tables: { noteLines },
    handles: ["feedback/record"],
    init: (): NotesState => ({ notes: 0 }),
    apply(state, event, rows) {
      const { sessionId, seq } = event;
      const row = { sessionId, seq, earlier: state.notes, text: "" };
      rows.noteLines.upsert(row);
      state.notes += 1;
      const given = member(event.data, "text");
      const line = write(typeof given === "string" ? given : "");
      rows.noteLines.update({ sessionId, seq, text: line });
      return state;
    },
    views: [],
  });
}

/**
 * The same for notes and streamed text, each delta by itself.
 * @param write as for notes
 */
export function linesProjection(
  name: string,
  write: (text: string) => string = (line) => line,
): Projection {
  const notes = notesProjection(name, write);
  return {
    ...notes,
    handles: new Set(["feedback/record", "assistant/chunk"]),
    mayWantDeltas: true,
    fold(header, initial, sink) {
      const fold = notes.fold(header, initial, sink);
      return {
        ...fold,
        wantsDeltas: () => true,
        apply(event) {
          const line = member(
            member(event.data, "chunk") ?? event.data,
            "text",
          );
          fold.apply({
            ...event,
            type: "feedback/record",
            data: { text: line ?? "" },
          });
        },
      };
    },
  };
}
