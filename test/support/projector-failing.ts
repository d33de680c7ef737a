/** Projections that fail at certain notes beside one that does not, and sessions to try them on. */
import { randomUUID } from "node:crypto";
import { beforeAll } from "vitest";
import { ensureBuilds } from "../../src/builds/ensure-builds.ts";
import { LogCorruptError } from "../../src/errors.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import type { Projection } from "../../src/projector/projection.ts";
import { liveRows } from "./build-rows.ts";
import type { TestDatabase } from "./database.ts";
import { note } from "./events.ts";
import { notesProjection } from "./projector-notes.ts";
import { foldFully } from "./projector-steps.ts";
import { lead } from "./relay-steps.ts";

/** Throws at a note that says so. */
const throwing = notesProjection("throwing", (text) => {
  if (text === "throw") throw new RangeError("not with throw, my secret");
  if (text === "throw ours") throw new LogCorruptError("not with this");
  return text;
});

/** Writes what Postgres can't store where a note says so. */
const refused = notesProjection("refused", (text) =>
  text === "NUL" ? "a\0b" : text,
);

const steady = notesProjection("steady");

export const failing: readonly Projection[] = [
  ...builtInProjections,
  throwing,
  refused,
  steady,
];

/** The same, with nothing wrong any more. */
export const repaired: readonly Projection[] = [
  ...builtInProjections,
  notesProjection("throwing"),
  notesProjection("refused"),
  steady,
];

/** The same, one of them newer than its build. */
export const newer: readonly Projection[] = [
  ...builtInProjections,
  throwing,
  refused,
  notesProjection("steady", (text) => `new ${text}`, 2),
];

export interface FailingSteps {
  /** Appends notes with these texts to a new session and lets a relay ask for their fold. */
  readonly appendNotes: (...texts: readonly string[]) => Promise<string>;
  /** One column of the rows that a projection of notes has of a session. */
  readonly columnOf: (
    projection: string,
    sessionId: string,
    column?: "text" | "earlier",
  ) => Promise<readonly unknown[]>;
  /** Ends the pause after a failure. */
  readonly endPause: (sessionId: string) => Promise<void>;
  /** Folds and fails as often as it takes. */
  readonly failUntilParked: (sessionId: string) => Promise<void>;
}

/** Makes the builds of these projections before the file's tests. */
export function useFailingProjections(
  database: () => TestDatabase,
): FailingSteps {
  beforeAll(() => ensureBuilds(database().db, failing));
  const endPause = async (sessionId: string): Promise<void> => {
    await database().db.rows(
      {
        text: "update turnlog.checkpoints set next_at = clock_timestamp() where session_id = $1 and next_at is not null",
      },
      [sessionId],
    );
  };
  return {
    endPause,
    async appendNotes(...texts) {
      const { db, store } = database();
      const sessionId = randomUUID();
      const leader = await lead(db);
      await store.append(sessionId, texts.map(note), { expectedSeq: 0 });
      await leader.drain();
      return sessionId;
    },
    async columnOf(name, sessionId, column = "text") {
      const projection = { ...steady, name };
      const tables = await liveRows(database().db, projection, sessionId);
      return (tables["note_lines"] ?? []).map((row) => row[column]);
    },
    async failUntilParked(sessionId) {
      for (let attempts = 0; attempts < 8; attempts += 1) {
        await foldFully(database().db, sessionId, failing);
        await endPause(sessionId);
      }
    },
  };
}
