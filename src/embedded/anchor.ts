/**
 * This process' registration as a user of the server, for the lifetime of a handle. When
 * the connection is lost but the server comes back (it restarts itself after the crash of
 * one backend), it registers again, so that no other process stops the server while this
 * one's pool goes on using it.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Login, type Registration, useLockKey } from "./login.ts";

/** A registration that lasts until it is released. */
export interface Anchor {
  /**
   * Gives the registration up. True when nobody else is registered: then new users are
   * kept waiting until `end`. False also when the server is gone.
   */
  release(): Promise<boolean>;
  /** Closes the connection. */
  end(): Promise<void>;
}

const renewalPauseMs = 200;
const renewalLimit = 50;

/** Keeps the registration; after a loss it tries `logIn` for ten seconds, on the same port. */
export function keepAnchor(
  first: Registration,
  logIn: () => Promise<Login>,
): Anchor {
  let current = first;
  const released = new AbortController();

  async function hold(): Promise<void> {
    await lossOf(current);
    for (let i = 0; i < renewalLimit; i += 1) {
      await pause(renewalPauseMs, undefined, {
        ref: false,
        signal: released.signal,
      });
      const login = await logIn();
      if (login.kind !== "registered") continue;
      if (released.signal.aborted || login.port !== first.port) {
        return login.client.end();
      }
      current = login;
      return hold();
    }
  }

  // Released, or a renewal failed in earnest: then the next login elsewhere tells the cause.
  hold().catch(() => {});

  return {
    async release() {
      released.abort();
      return isLastUser(current);
    },
    end: () => current.client.end(),
  };
}

function lossOf({ client }: Registration): Promise<void> {
  return new Promise((resolve) => {
    client.once("end", () => resolve());
  });
}

async function isLastUser({ client }: Registration): Promise<boolean> {
  const key = [...useLockKey];
  try {
    await client.query("select pg_advisory_unlock_shared($1, $2)", key);
    const { rows } = await client.query<{ last: boolean }>(
      "select pg_try_advisory_lock($1, $2) as last",
      key,
    );
    return rows[0]?.last ?? false;
  } catch {
    // The connection is lost, and with it the registration.
    return false;
  }
}
