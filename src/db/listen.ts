/** Wake-ups through NOTIFY: a hint that saves a poll. Losing one, or the connection, costs a poll's length. */
import type { Db } from "./connect.ts";

export interface Listener extends AsyncDisposable {
  close(): Promise<void>;
}

const RECONNECT_MS = 1_000;

/**
 * Listens on a channel over a connection of its own and reconnects by itself.
 * @param onWake called for each notification, and once after each reconnection, since some may have been missed
 */
export function listen(
  db: Db,
  channel: "turnlog_outbox" | "turnlog_work",
  onWake: () => void,
): Listener {
  const stop = new AbortController();
  const done = keepListening(db, channel, onWake, stop.signal);
  const close = async (): Promise<void> => {
    stop.abort();
    await done;
  };
  return { close, [Symbol.asyncDispose]: close };
}

async function keepListening(
  db: Db,
  channel: string,
  onWake: () => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await listenOnce(db, channel, onWake, signal);
    } catch {
      // The server is away: the poll goes on meanwhile, and reports it where it matters.
    }
    await pause(RECONNECT_MS, signal);
  }
}

async function listenOnce(
  db: Db,
  channel: string,
  onWake: () => void,
  signal: AbortSignal,
): Promise<void> {
  const client = await db.dedicated();
  try {
    const ended = new Promise<void>((resolve) => {
      client.once("end", resolve);
      client.once("error", () => resolve());
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    client.on("notification", onWake);
    await client.query(`listen ${channel}`);
    onWake();
    if (!signal.aborted) await ended;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Waits, or less when the signal comes. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal.addEventListener("abort", finish, { once: true });
  });
}
