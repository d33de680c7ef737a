/** A long session is read from its beginning to its end. */
import { randomUUID } from "node:crypto";
import { generateSession } from "../../generator/session.ts";
import { loadPeer } from "../contenders/load-peer.ts";
import { plainSql } from "../contenders/plain-sql.ts";
import { turnlog } from "../contenders/turnlog.ts";
import type { Contender, ContenderKind } from "../contenders/contender.ts";
import { compared, measureInTurns } from "../rounds.ts";
import type { Bench, Scenario } from "../scenario.ts";
import { streamLog } from "../stream-log.ts";

const EVENTS = 100_000;
const QUICK_EVENTS = 30_000;

interface Reader {
  readonly name: string;
  readonly sessionId: string;
  readonly contender: Contender;
  peakMiB: number;
}

export const read: Scenario = {
  name: "read",
  title: "Read a 100,000-event session as events",
  async run(bench) {
    const kinds = [await loadPeer("emmett"), turnlog, plainSql];
    const readers: Reader[] = [];
    for (const kind of kinds) readers.push(await load(bench, kind));
    const subjects = readers.map((reader) => ({
      name: reader.name,
      measure: () => measure(bench, reader),
    }));
    const values = await measureInTurns(subjects, { rounds: bench.rounds });
    for (const { contender } of readers) await contender.close();
    const costs = new Map(
      readers.map(({ name, peakMiB }) => [name, { peakMiB }]),
    );
    return compared(values, costs, {
      unit: "events/s",
      better: "higher",
      baseline: "emmett",
      targets: { turnlog: 3 },
    });
  },
};

async function load(bench: Bench, kind: ContenderKind): Promise<Reader> {
  const databaseUrl = await bench.server.createDatabase();
  await kind.install(databaseUrl);
  const contender = await kind.connect({ databaseUrl, poolSize: 1 });
  const sessionId = randomUUID();
  await streamLog(contender, sessionId, logOf(bench), 500);
  return { name: kind.name, sessionId, contender, peakMiB: 0 };
}

/** Events a second. Notes by how much the heap has grown at most. */
async function measure(bench: Bench, reader: Reader): Promise<number> {
  const heapBefore = process.memoryUsage().heapUsed;
  const look = (): void => {
    const grownMiB = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20;
    reader.peakMiB = Math.max(reader.peakMiB, grownMiB);
  };
  const timer = setInterval(look, 5);
  const beganAt = performance.now();
  const events = await reader.contender.read(reader.sessionId);
  const seconds = (performance.now() - beganAt) / 1_000;
  look();
  clearInterval(timer);
  if (events !== logOf(bench).length)
    throw new Error(`${reader.name} gave ${events} events`);
  bench.say(`${reader.name}: ${Math.round(events / seconds)} events/s`);
  return events / seconds;
}

function logOf(bench: Bench) {
  const events = bench.quick ? QUICK_EVENTS : EVENTS;
  return [...generateSession({ seed: 2, events }).events];
}
