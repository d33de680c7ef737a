/**
 * The port between relay and projectors: a queue of doorbells. A job is a session id and nothing more; it may be
 * lost, doubled, late or out of order, since what there is to do stands in Postgres.
 */
import type { SessionId } from "../events/ids.ts";

/** Folds one session as far as it goes. Never rejects for a session's own trouble, only when nothing can be done. */
export type SessionHandler = (sessionId: SessionId) => Promise<void>;

export interface Queue extends AsyncDisposable {
  /** Asks for each session to be folded soon. Called outside any transaction. */
  ring(sessionIds: readonly SessionId[]): Promise<void>;
  /** Folds sessions as they are rung for, up to `concurrency` at a time, until closed. Returns at once. */
  run(handler: SessionHandler, options: { readonly concurrency: number }): void;
  /** Takes no more sessions, waits for those in hand, and lets go of connections. */
  close(): Promise<void>;
}
