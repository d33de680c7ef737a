/**
 * Costs that are counted and not timed: a fixed number of appends in a new database, which no autovacuum has a reason
 * to visit.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender, ContenderKind } from "./contenders/contender.ts";
import { readCounters, type Counters } from "./costs.ts";
import { countRoundTrips } from "./count-round-trips.ts";
import { appendsOf, sharedSession, type Load } from "./drive.ts";
import type { BenchServer } from "./server.ts";

/** Appends of a writer until connections, prepared statements and caches are warm, and appends that count. */
const WARM_UP = 10;
const COUNTED = 50;

/** Round trips, statements, commits and WAL fsyncs per event. */
export async function exactCosts(
  server: BenchServer,
  kind: ContenderKind,
  load: Load,
): Promise<Record<string, number>> {
  const databaseUrl = await server.createDatabase();
  await kind.install(databaseUrl);
  const poolSize = load.writers;
  const events = COUNTED * load.writers * load.eventsPerAppend;
  // A backend reports for certain when it ends: the counted appends are what a longer run has more than a shorter one.
  const readings = [await countersWithout(server, databaseUrl)];
  const wire = await countRoundTrips(databaseUrl, async (url, counting) => {
    for (const appends of [WARM_UP, WARM_UP + COUNTED]) {
      const contender = await kind.connect({ databaseUrl: url, poolSize });
      await appendMany(contender, load, Math.min(appends, WARM_UP));
      counting();
      await appendMany(contender, load, appends - WARM_UP);
      await contender.close();
      readings.push(await countersWithout(server, databaseUrl));
    }
  });
  const more = (of: (counters: Counters) => number): number => {
    const [start, warm, end] = readings.map(of);
    return (end ?? 0) - 2 * (warm ?? 0) + (start ?? 0);
  };
  return {
    roundTrips: wire.roundTrips / events,
    statements: wire.statements / events,
    commits: more(({ commits }) => commits) / events,
    walSyncs: more(({ walSyncs }) => walSyncs) / events,
  };
}

/** Every writer appends as many times to a session of its own. */
async function appendMany(
  contender: Contender,
  load: Load,
  count: number,
): Promise<void> {
  if (count === 0) return;
  const sharedId = await sharedSession(contender, load);
  const write = async (): Promise<void> => {
    let left = count;
    for (const { sessionId, events, at } of appendsOf(load, sharedId)) {
      if (left === 0) return;
      await contender.append(sessionId, events, at);
      left -= 1;
    }
  };
  await Promise.all(Array.from({ length: load.writers }, write));
}

/** The counters once nobody is connected to the database any more. */
async function countersWithout(
  server: BenchServer,
  databaseUrl: string,
): Promise<Counters> {
  const name = new URL(databaseUrl).pathname.slice(1);
  for (;;) {
    const rows = await server.rows(
      `select from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`,
    );
    if (rows.length === 0) return readCounters(server);
    await sleep(5);
  }
}
