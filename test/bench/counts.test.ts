import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { generateSession } from "../../bench/generator/session.ts";
import { plainSql } from "../../bench/src/contenders/plain-sql.ts";
import { turnlog } from "../../bench/src/contenders/turnlog.ts";
import { countRoundTrips } from "../../bench/src/count-round-trips.ts";
import { appendsOf } from "../../bench/src/drive.ts";
import { thinnedLog } from "../../bench/src/payloads.ts";
import { storedBytes } from "../../bench/src/stored-bytes.ts";
import { streamLog } from "../../bench/src/stream-log.ts";
import { isDelta } from "../../src/events/event.ts";
import { LogAudit } from "../../src/events/rules/log-audit.ts";
import { useTestDatabase } from "../support/database.ts";

const ours = useTestDatabase();
const empty = useTestDatabase({ isEmpty: true });

const log = thinnedLog(1, 500);

describe("events for single appends", () => {
  it("are a log that breaks no rule, three fifths of it deltas", () => {
    const audit = new LogAudit({ seedLength: 0 });
    for (const event of log) audit.add(event);

    expect(audit.findings).toEqual([]);
    expect(log).toHaveLength(500);
    expect(log.filter(isDelta).length / log.length).toBeGreaterThan(0.45);
    expect(log.filter(isDelta).length / log.length).toBeLessThan(0.75);
  });

  it("go to one session after the other, each from its beginning", () => {
    const appends = appendsOf({ writers: 1, eventsPerAppend: 300, log });
    const [first, second, third] = [
      appends.next().value,
      appends.next().value,
      appends.next().value,
    ];

    expect([first?.at, second?.at, third?.at]).toEqual([0, 300, 0]);
    expect(second?.events).toHaveLength(200);
    expect(first?.sessionId).toBe(second?.sessionId);
    expect(third?.sessionId).not.toBe(first?.sessionId);
  });
});

describe("an append on the wire", () => {
  it("of Turnlog is one round trip and one statement, however many events it has; the doorbell is apart", async () => {
    const { url } = ours();
    for (const size of [1, 100]) {
      const counts = await countRoundTrips(url, async (proxied, counting) => {
        const options = { databaseUrl: proxied, poolSize: 1 };
        const store = await turnlog.connect(options);
        const sessionId = randomUUID();
        await store.append(sessionId, log.slice(0, 10), 0);
        counting();
        await store.append(sessionId, log.slice(10, 10 + size), 10);
        await store.close();
      });

      // The doorbell may ring once for each of the two appends.
      expect(counts.statements).toBeGreaterThanOrEqual(1);
      expect(counts.statements).toBeLessThanOrEqual(3);
    }
  });

  it("of the plain transaction is six of each", async () => {
    const { url } = empty();
    await plainSql.install(url);
    const counts = await countRoundTrips(url, async (proxied, counting) => {
      const options = { databaseUrl: proxied, poolSize: 1 };
      const store = await plainSql.connect(options);
      const sessionId = randomUUID();
      await store.append(sessionId, log.slice(0, 10), 0);
      counting();
      for (const event of log.slice(10, 15))
        await store.append(sessionId, [event], "any");
      await store.close();
    });

    expect(counts.statements).toBe(5 * 6);
    expect(counts.roundTrips).toBeGreaterThanOrEqual(5 * 6);
  });
});

describe("a session's row", () => {
  it("is updated in place by nearly every append: no index of it changes", async () => {
    const { url, db } = ours();
    const updates = async () => {
      const [row] = await db.rows<{ all: number; hot: number }>({
        text: `
          select n_tup_upd as all, n_tup_hot_upd as hot
          from pg_stat_user_tables
          where relid = 'turnlog.sessions'::regclass`,
      });
      return row ?? { all: 0, hot: 0 };
    };
    const before = await updates();
    const store = await turnlog.connect({ databaseUrl: url, poolSize: 1 });
    const sessionId = randomUUID();
    for (const [seq, event] of log.slice(0, 300).entries())
      await store.append(sessionId, [event], seq);
    // A connection reports for certain when it ends.
    await store.close();
    await expect
      .poll(async () => (await updates()).all, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(before.all + 299);

    const after = await updates();
    const hotShare = (after.hot - before.hot) / (after.all - before.all);
    expect(hotShare).toBeGreaterThanOrEqual(0.95);
  });
});

describe("a streamed log", () => {
  it("takes less than a seventh of what one row per event takes", async () => {
    const { events } = generateSession({ seed: 1, events: 20_000 });
    const sizes: number[] = [];
    for (const [kind, { url }] of [
      [turnlog, ours()],
      [plainSql, empty()],
    ] as const) {
      const before = await storedBytes(url);
      const store = await kind.connect({ databaseUrl: url, poolSize: 1 });
      await streamLog(store, randomUUID(), [...events], 500);
      await store.close();
      sizes.push((await storedBytes(url)) - before);
    }

    const [packed = Number.NaN, plain = Number.NaN] = sizes;
    expect(packed / plain).toBeLessThan(1 / 7);
  });
});
