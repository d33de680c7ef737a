/** All that services do to sessions, at the same time and to the same ones, from several stores. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";
import { connect } from "../../src/db/connect.ts";
import { TurnlogError } from "../../src/errors.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { silentLogger } from "../../src/logger.ts";
import { startPipeline } from "../../src/runtime/pipeline.ts";
import { storeOver, type SessionStore } from "../../src/session-store.ts";
import type { SessionWriter } from "../../src/writer/session-writer.ts";
import { useTestDatabase } from "../support/database.ts";
import { collect, deltas, note, prompt } from "../support/events.ts";
import { isLong } from "../support/property-runs.ts";

const database = useTestDatabase();
const SECONDS = Number(
  process.env["TURNLOG_TEST_MIXED_SECONDS"] ?? (isLong ? 600 : 4),
);
const SESSIONS = isLong ? 100 : 10;
const STORES = 3;
const WORKERS_PER_STORE = 4;
/** Of each worker at least, however slow the machine. */
const DEEDS_AT_LEAST = 20;

/** What one who shares a session must be ready for. Anything else is a fault. */
const EXPECTED_CODES: ReadonlySet<string> = new Set([
  "SESSION_BUSY",
  "WRITER_FENCED",
  "WRONG_EXPECTED_SEQ",
]);

interface Site {
  readonly store: SessionStore;
  readonly id: string;
  /** To be called with each event's text once it is acknowledged. */
  readonly acknowledge: (...texts: readonly string[]) => void;
}

type Deed = (site: Site) => Promise<unknown>;

/** Opens the session, streams a turn into it, and leaves it as `leave` says. */
async function stream(
  { store, id, acknowledge }: Site,
  takeOver: boolean,
  leave: (writer: SessionWriter, turn: number) => Promise<unknown>,
): Promise<void> {
  const writer = await store.open(id, { takeOver, maxDelayMs: 5 });
  const turn = await nextTurn(writer);
  const place = { turn, step: 1 };
  const text = randomUUID();
  await writer.write("turn/start", { turn });
  await writer.write("step/start", place);
  for (const { type, data } of deltas(["a", "b", "c"], place))
    await writer.write(type, data);
  await writer.write("feedback/record", { text });
  await writer.flush();
  acknowledge(text);
  await leave(writer, turn);
}

async function endTurn(writer: SessionWriter, turn: number): Promise<void> {
  const events: NewEvent[] = [
    { type: "step/end", data: { turn, step: 1 } },
    { type: "turn/end", data: { turn, reason: { kind: "interrupted" } } },
  ];
  await writer.append(events);
  await writer.close();
}

/** By the log as the writer knows it: another one may have fenced it off and begun a turn since. */
async function nextTurn(writer: SessionWriter): Promise<number> {
  const [row] = await database().db.rows<{ turn: number }>(
    {
      text: `
        select coalesce(max(turn), 0) + 1 as turn
        from turnlog.events
        where session_id = $1 and type = 'turn/start' and seq < $2`,
    },
    [writer.sessionId, writer.nextSeq],
  );
  return row?.turn ?? 1;
}

/** A writer that is killed says nothing; its hold is ended, since nobody waits 15 s for it here. */
async function dropDead(writer: SessionWriter): Promise<void> {
  await database().db.rows(
    {
      text: `
        update turnlog.sessions
        set writer_until = clock_timestamp()
        where session_id = $1 and writer_epoch = $2`,
    },
    [writer.sessionId, writer.epoch],
  );
}

const DEEDS: Readonly<Record<string, Deed>> = {
  stream: (site) => stream(site, false, endTurn),
  takeOverAndStream: (site) => stream(site, true, endTurn),
  streamAndDie: (site) => stream(site, true, dropDead),
  repair: async ({ store, id }) => (await store.open(id)).close(),
  fenceOff: ({ store, id }) => store.takeOver(id),
  appendAnywhere: async ({ store, id, acknowledge }) => {
    const text = randomUUID();
    await store.append(id, [note(text)], { expectedSeq: "any" });
    acknowledge(text);
  },
  appendAtHead: async ({ store, id, acknowledge }) => {
    const text = randomUUID();
    const { head } = await store.session(id);
    await store.append(id, [note(text)], { expectedSeq: head });
    acknowledge(text);
  },
  appendInTransaction: async ({ store, id, acknowledge }) => {
    const text = randomUUID();
    await database().db.orm.transaction((tx) =>
      store.append(id, [note(text)], { expectedSeq: "any", tx }),
    );
    acknowledge(text);
  },
  inspect: async ({ store, id }) => {
    const { head } = await store.inspect(id);
    await store.event(id, head - 1, { before: 5, after: 5 });
    return store.traceEvent(id, 0);
  },
  list: async ({ store, id }) => {
    const first = await store.sessions({ limit: 5 });
    const last = first.at(-1);
    if (last !== undefined) await store.sessions({ limit: 5, after: last });
    return store.revisions([id, ...first.map(({ sessionId }) => sessionId)]);
  },
};

let pipeline: AsyncDisposable | undefined;

beforeAll(async () => {
  pipeline = await startPipeline({
    db: database().db,
    config: readConfig({}, {}),
    logger: silentLogger,
  });
});
afterAll(() => pipeline?.[Symbol.asyncDispose]());

/** Does one deed after the other until the time is over; returns how often each came to what. */
async function work(
  store: SessionStore,
  ids: readonly string[],
  acknowledged: Set<string>,
  seed: number,
): Promise<readonly string[]> {
  const until = performance.now() + SECONDS * 1_000;
  const plan = fc.sample(
    fc.tuple(fc.constantFrom(...Object.keys(DEEDS)), fc.constantFrom(...ids)),
    { numRuns: 2_000, seed },
  );
  const came: string[] = [];
  for (let at = 0; at < DEEDS_AT_LEAST || performance.now() < until; at += 1) {
    const [name, id] = plan[at % plan.length] ?? ["", ""];
    const site: Site = {
      store,
      id,
      acknowledge: (...texts) =>
        texts.forEach((text) => acknowledged.add(text)),
    };
    const end = await (DEEDS[name]?.(site) ?? Promise.resolve()).then(
      () => "done",
      (error: unknown) =>
        error instanceof TurnlogError ? error.code : String(error),
    );
    came.push(`${name} ${end}`);
  }
  return came;
}

function counts(came: readonly string[]): Readonly<Record<string, number>> {
  const result: Record<string, number> = {};
  for (const what of came.toSorted()) result[what] = (result[what] ?? 0) + 1;
  return result;
}

async function deadlocks(): Promise<number | undefined> {
  const [row] = await database().db.rows<{ deadlocks: number }>({
    text: "select deadlocks from pg_stat_database where datname = current_database()",
  });
  return row?.deadlocks;
}

it(
  "opening, streaming, dying, taking over, repairing, appending and listing go on beside each other: no deadlock, no fault, nothing lost or doubled",
  async () => {
    const { store, url } = database();
    const ids = Array.from({ length: SESSIONS }, () => randomUUID());
    for (const id of ids)
      await store.append(id, [prompt(id)], { expectedSeq: 0 });
    const stores = Array.from({ length: STORES }, (_, at) =>
      storeOver(
        connect({
          databaseUrl: url,
          poolSize: 8,
          connectTimeoutMs: 60_000,
          applicationName: `turnlog-test-mixed-${at}`,
          preparedStatements: true,
        }),
      ),
    );
    const acknowledged = new Set<string>();

    const came = await Promise.all(
      stores.flatMap((of, at) =>
        Array.from({ length: WORKERS_PER_STORE }, (_, worker) =>
          work(of, ids, acknowledged, 1 + at * WORKERS_PER_STORE + worker),
        ),
      ),
    );
    await Promise.all(stores.map((of) => of.close()));

    const ends = counts(came.flat());
    if (isLong) process.stdout.write(`${JSON.stringify(ends, null, 2)}\n`);
    const faults = Object.keys(ends).filter((end) => {
      const code = end.slice(end.indexOf(" ") + 1);
      return code !== "done" && !EXPECTED_CODES.has(code);
    });
    expect(faults).toEqual([]);
    for (const deed of Object.keys(DEEDS))
      expect(ends).toHaveProperty([`${deed} done`]);
    expect(await deadlocks()).toBe(0);
    const found: string[] = [];
    for (const id of ids) {
      await (await store.open(id, { takeOver: true })).close();
      const events = await collect(store, id);
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
      expect((await store.check(id)).findings).toEqual([]);
      for (const { type, data } of events)
        if (type === "feedback/record") found.push(textOf(data));
    }
    expect(new Set(found).size).toBe(found.length);
    const stored = new Set(found);
    expect([...acknowledged].filter((text) => !stored.has(text))).toEqual([]);
  },
  (SECONDS + 300) * 1_000,
);

function textOf(data: unknown): string {
  return typeof data === "object" && data !== null && "text" in data
    ? String(data.text)
    : "";
}
