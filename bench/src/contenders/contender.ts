/** What is measured: a store of events, reached in the same way by every scenario. */
import type { SessionEvent } from "../../../src/events/event.ts";

/** An event to be appended; one for the end of a session brings no seq. */
export type BenchEvent = Omit<SessionEvent, "seq"> & { readonly seq?: number };

export interface Contender {
  /** Appends at the seq of the first event, or at the end. Resolves once the events are durable. */
  readonly append: (
    sessionId: string,
    events: readonly BenchEvent[],
    expectedSeq: number | "any",
  ) => Promise<void>;
  /** Reads a whole session and returns how many events came. */
  readonly read: (sessionId: string) => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface ContenderKind {
  readonly name: string;
  /** Puts its schema into an empty database. */
  readonly install: (databaseUrl: string) => Promise<void>;
  /** Connects to a database that has its schema. */
  readonly connect: (options: {
    readonly databaseUrl: string;
    readonly poolSize: number;
  }) => Promise<Contender>;
  /** Builds a table of a row for each message anew from all events; absent where there is no such thing. */
  readonly rebuildMessages?: (databaseUrl: string) => Promise<void>;
}
