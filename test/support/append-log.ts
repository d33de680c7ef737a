/** Puts logs into a store, and holds its tables against the pure fold. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Db } from "../../src/db/connect.ts";
import { builtInProjections } from "../../src/projections/registry.ts";
import type { SessionStore } from "../../src/session-store.ts";
import { liveRows } from "./build-rows.ts";
import { ours } from "./derived.ts";
import { collect } from "./events.ts";
import { pureFold } from "./pure-fold.ts";
import type { LogLike } from "./reference-log.ts";

/** Appends a log under a new id in batches of the given size, and returns it with that id. */
export async function appendLog(
  store: SessionStore,
  log: LogLike,
  batch: number,
): Promise<LogLike> {
  const header = { ...log.header, id: randomUUID() };
  const { version: _version, id, ...given } = header;
  for (let seq = 0; seq < log.events.length; seq += batch)
    await store.append(id, log.events.slice(seq, seq + batch), {
      expectedSeq: seq,
      header: given,
      timeoutMs: 30_000,
    });
  return { header, events: log.events };
}

/** The log is stored byte for byte, and every live table equals its fold. */
export async function expectStoredAndFolded(
  store: SessionStore,
  db: Db,
  log: LogLike,
): Promise<void> {
  const { header, events } = ours(log);
  const stored = await collect(store, header.id);
  expect(stored.map((event) => JSON.stringify(event))).toEqual(
    events.map((event) => JSON.stringify(event)),
  );
  await expectFolded(db, log);
}

/** Every live table holds the fold of the events that are stored. */
export async function expectFolded(db: Db, log: LogLike): Promise<void> {
  const { header, events } = ours(log);
  for (const projection of builtInProjections)
    expect(await liveRows(db, projection, header.id), projection.name).toEqual(
      pureFold(projection, header, events),
    );
}

/** Every build has come to the last fact of every session, and none waits or has given up. */
export async function expectCheckpointsAtFactsHead(db: Db): Promise<void> {
  const behind = await db.rows({
    text: `
      select s.session_id, b.projection, c.next_seq, s.facts_head, c.attempts
      from turnlog.sessions s
      cross join turnlog.builds b
      left join turnlog.checkpoints c on c.session_id = s.session_id and c.build = b.number
      where coalesce(c.next_seq, 0) < s.facts_head or c.next_at is not null or c.parked_at is not null`,
  });
  expect(behind).toEqual([]);
}

export async function expectNothingLeft(db: Db): Promise<void> {
  const [left] = await db.rows({
    text: "select (select count(*) from turnlog.outbox) as outbox, (select count(*) from turnlog.work) as work",
  });
  expect(left).toEqual({ outbox: 0, work: 0 });
}
