import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { connect, type Db } from "../../src/db/connect.ts";
import {
  AppendIdReusedError,
  EventInvalidError,
  WrongExpectedSeqError,
} from "../../src/errors.ts";
import type { NewEvent, SessionEvent } from "../../src/events/event.ts";
import type { AppendResult } from "../../src/log/append-request.ts";
import { storeOver, type SessionStore } from "../../src/session-store.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, note } from "../support/events.ts";
import { runs } from "../support/property-runs.ts";

const database = useTestDatabase();
const VICTIM = "turnlog-mixed-victim";

/** What one caller asks for; all calls of a case are made at once or in waves. */
interface Ask {
  readonly store: number;
  readonly session: number;
  readonly count: number;
  /** Added to the head that the caller has seen; null appends to any seq. */
  readonly lead: number | null;
  /** Callers of one name send the same append id, and other events if they differ in count. */
  readonly sharedId: number | null;
  readonly isBad: boolean;
}

interface Outcome {
  readonly ask: Ask;
  readonly appendId: string;
  readonly expectedSeq: number | "any";
  readonly texts: readonly string[];
  readonly result: PromiseSettledResult<AppendResult>;
}

const STORES = 3;
const SESSIONS = 4;

const ask: fc.Arbitrary<Ask> = fc.record({
  store: fc.nat({ max: STORES - 1 }),
  session: fc.nat({ max: SESSIONS - 1 }),
  count: fc.integer({ min: 1, max: 3 }),
  lead: fc.oneof(
    { weight: 3, arbitrary: fc.constant(null) },
    { weight: 2, arbitrary: fc.integer({ min: -1, max: 4 }) },
  ),
  sharedId: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.nat({ max: 2 }) },
  ),
  isBad: fc.oneof(
    { weight: 5, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
});

const waves = fc.array(fc.array(ask, { minLength: 1, maxLength: 24 }), {
  minLength: 1,
  maxLength: 3,
});

function eventsOf(texts: readonly string[], isBad: boolean): NewEvent[] {
  const outside = {
    type: "turn/end",
    data: { turn: 7, reason: { kind: "completed" } },
  };
  return [...texts.map(note), ...(isBad ? [outside] : [])];
}

/** Makes all calls of a wave in one go, each with the head as it was before the wave. */
async function runWave(
  stores: readonly SessionStore[],
  ids: readonly string[],
  sharedIds: readonly string[],
  wave: readonly Ask[],
): Promise<Outcome[]> {
  const heads = new Map<string, number>();
  for (const id of ids) heads.set(id, await headOf(id));
  const calls = wave.map(async (asked): Promise<Outcome> => {
    const { lead, sharedId, count, isBad } = asked;
    const id = ids[asked.session] ?? "";
    const appendId =
      sharedId === null ? randomUUID() : `${sharedIds[sharedId]}`;
    const expectedSeq: number | "any" =
      lead === null ? "any" : Math.max(0, (heads.get(id) ?? 0) + lead);
    const texts = Array.from({ length: count }, (_, at) => `${appendId} ${at}`);
    const store = stores[asked.store];
    if (store === undefined) throw new Error("there are fewer stores");
    const options = { expectedSeq, appendId, timeoutMs: 60_000 };
    const [result] = await Promise.allSettled([
      store.append(id, eventsOf(texts, isBad), options),
    ]);
    return { ask: asked, appendId, expectedSeq, texts, result };
  });
  return Promise.all(calls);
}

async function headOf(id: string): Promise<number> {
  const [row] = await database().db.rows<{ head: number }>(
    { text: "select head from turnlog.sessions where session_id = $1" },
    [id],
  );
  return row?.head ?? 0;
}

/** Every law of appends, held against what is stored and what the callers were told. */
async function expectLaws(
  ids: readonly string[],
  outcomes: readonly Outcome[],
): Promise<void> {
  for (const [session, id] of ids.entries()) {
    const mine = outcomes.filter(({ ask: asked }) => asked.session === session);
    const events =
      (await headOf(id)) === 0 ? [] : await collect(database().store, id);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
    for (const outcome of mine) expectTrue(outcome, events, mine);
    const fresh = mine.flatMap(({ result }) =>
      result.status === "fulfilled" && !result.value.deduplicated
        ? [result.value]
        : [],
    );
    const starts = fresh.map(({ firstSeq }) => firstSeq);
    expect(new Set(starts).size).toBe(starts.length);
    const texts = events.map(textOf);
    expect(new Set(texts).size).toBe(texts.length);
  }
}

function textOf({ data }: SessionEvent): string {
  return JSON.stringify(data);
}

/** What a caller was told is what happened. */
function expectTrue(
  { appendId, expectedSeq, texts, result, ask: asked }: Outcome,
  events: readonly SessionEvent[],
  all: readonly Outcome[],
): void {
  const stored = events.map(textOf);
  const wanted = texts.map((text) => JSON.stringify({ text }));
  if (result.status === "fulfilled") {
    const { firstSeq, nextSeq, deduplicated } = result.value;
    expect(stored.slice(firstSeq, nextSeq)).toEqual(wanted);
    if (expectedSeq !== "any" && !deduplicated)
      expect(firstSeq).toBe(expectedSeq);
    return;
  }
  const error: unknown = result.reason;
  const others = all.filter((other) => other.appendId === appendId);
  if (error instanceof AppendIdReusedError) {
    expect(others.length).toBeGreaterThan(1);
    expect(stored[error.firstSeq]).toContain(appendId);
    return;
  }
  // Stored under this id, if it is at all, is what another caller sent.
  if (others.length === 1)
    expect(stored.filter((text) => text.includes(appendId))).toEqual([]);
  if (error instanceof EventInvalidError) expect(asked.isBad).toBe(true);
  else if (error instanceof WrongExpectedSeqError) {
    expect(error.expectedSeq).toBe(expectedSeq);
    expect(error.actualSeq).not.toBe(expectedSeq);
    expect(error.actualSeq).toBeLessThanOrEqual(events.length);
  } else expect(error).toMatchObject({ code: "SESSION_NOT_FOUND" });
}

async function play(stores: readonly SessionStore[], plan: readonly Ask[][]) {
  const ids = Array.from({ length: SESSIONS }, () => randomUUID());
  const outcomes: Outcome[] = [];
  // The same three ids in each session, which is allowed: an append id belongs to a session.
  const sharedIds = Array.from({ length: 3 }, () => randomUUID());
  for (const wave of plan)
    outcomes.push(...(await runWave(stores, ids, sharedIds, wave)));
  await expectLaws(ids, outcomes);
}

describe("any mix of appends at the same time from several stores", () => {
  it("ends in dense seqs, one winner each, every acknowledged append once, and true errors", async () => {
    const stores = Array.from({ length: STORES }, () =>
      storeOver(database().db),
    );
    await fc.assert(
      fc.asyncProperty(waves, (plan) => play(stores, plan)),
      { numRuns: runs(40) },
    );
  });

  it("does so too while their connections are ended again and again", async ({
    signal,
  }) => {
    const { db } = database();
    const pools = Array.from({ length: STORES }, connectVictim);
    const stores = pools.map((pool) => storeOver(pool));
    const over = new AbortController();
    const killing = killConnections(db, AbortSignal.any([over.signal, signal]));
    try {
      await fc.assert(
        fc.asyncProperty(waves, (plan) => play(stores, plan)),
        { numRuns: runs(15) },
      );
    } finally {
      over.abort();
      await killing;
    }
    for (const store of stores) await store.close();
  });
});

describe("one caller's appends", () => {
  it("to any seq are stored in the order of the calls, awaited or not, whatever others append", async () => {
    const { db } = database();
    const pauses = fc.array(fc.boolean(), { minLength: 5, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(pauses, async (isAwaited) => {
        const id = randomUUID();
        const callers = ["a", "b"].map(async (name) => {
          const store = storeOver(db);
          const appends: Promise<AppendResult>[] = [];
          for (const [at, wait] of isAwaited.entries()) {
            const append = store.append(id, [note(`${name} ${at}`)], {
              expectedSeq: "any",
            });
            appends.push(append);
            if (wait) await append;
          }
          return (await Promise.all(appends)).map(({ firstSeq }) => firstSeq);
        });
        for (const seqs of await Promise.all(callers))
          expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        expect(await headOf(id)).toBe(2 * isAwaited.length);
      }),
      { numRuns: runs(15) },
    );
  });
});

function connectVictim(): Db {
  return connect({
    databaseUrl: database().url,
    poolSize: 4,
    applicationName: VICTIM,
    preparedStatements: true,
  });
}

/** Ends a random connection of the stores every few milliseconds; less often on a machine that is slow. */
async function killConnections(db: Db, signal: AbortSignal): Promise<void> {
  const text = `
    select pg_terminate_backend(pid)
    from (
      select pid
      from pg_stat_activity
      where application_name = $1 and datname = current_database()
      order by random()
      limit 1
    ) victim`;
  while (!signal.aborted) {
    const from = performance.now();
    await db.rows({ text }, [VICTIM]);
    await sleep(Math.max(15, 5 * (performance.now() - from)));
  }
}
