/** Appends of one event and of a hundred, by one writer and by many on sessions of their own. */
import type { ContenderKind } from "../contenders/contender.ts";
import { loadPeer } from "../contenders/load-peer.ts";
import { messageDb } from "../contenders/message-db.ts";
import { plainSql } from "../contenders/plain-sql.ts";
import { turnlog, turnlogDirect } from "../contenders/turnlog.ts";
import type { Load } from "../drive.ts";
import { thinnedLog } from "../payloads.ts";
import type { Figure } from "../result.ts";
import type { Comparison } from "../rounds.ts";
import type { Scenario } from "../scenario.ts";
import { measureThroughput } from "../throughput.ts";

/** Long enough that no writer needs a second session in a round. */
const SINGLE_EVENTS = 10_000;
const BATCHED_EVENTS = 20_000;

/** Ratios to emmett. */
const MANY_WRITERS = { [turnlog.name]: 6, [turnlogDirect.name]: 2.5 };

/** Ratio to message-db. */
const OVER_MESSAGE_DB = 6;

export const appendScenarios: readonly Scenario[] = [
  scenario({ eventsPerAppend: 1, writers: 1 }, { turnlog: 2 }),
  scenario({ eventsPerAppend: 1, writers: 16 }, MANY_WRITERS),
  scenario({ eventsPerAppend: 1, writers: 32 }, MANY_WRITERS),
  scenario({ eventsPerAppend: 100, writers: 1 }, { turnlog: 3 }),
  scenario({ eventsPerAppend: 100, writers: 16 }, { turnlog: 3.5 }),
];

function scenario(
  shape: Omit<Load, "log">,
  targets: Comparison["targets"],
): Scenario {
  const { eventsPerAppend, writers } = shape;
  const isSingle = eventsPerAppend === 1;
  return {
    name: `append-${eventsPerAppend}x${writers}`,
    title: `Append ${isSingle ? "1 event" : `${eventsPerAppend} events`} at a time, ${writers === 1 ? "1 writer" : `${writers} writers on distinct sessions`}`,
    async run(bench) {
      const log = thinnedLog(1, isSingle ? SINGLE_EVENTS : BATCHED_EVENTS);
      const kinds: readonly ContenderKind[] = [
        await loadPeer("emmett"),
        turnlog,
        ...(isSingle && writers > 1 ? [turnlogDirect] : []),
        ...(isSingle ? [messageDb] : []),
        plainSql,
      ];
      const figures = await measureThroughput(
        bench,
        kinds,
        { ...shape, log },
        {
          unit: "events/s",
          better: "higher",
          baseline: "emmett",
          targets,
        },
      );
      return writers === 1 ? figures : [...figures, ...overMessageDb(figures)];
    },
  };
}

/** Turnlog once more, with its ratios to message-db; none where that was not measured. */
function overMessageDb(figures: readonly Figure[]): readonly Figure[] {
  const ours = figures.find(({ name }) => name === turnlog.name);
  const theirs = figures.find(({ name }) => name === messageDb.name);
  if (ours === undefined || theirs === undefined) return [];
  const ratios = ours.rounds.map(
    (value, at) => value / (theirs.rounds[at] ?? Number.NaN),
  );
  const name = `${ours.name}, against ${theirs.name}`;
  const baseline = theirs.name;
  const target = OVER_MESSAGE_DB;
  return [{ ...ours, name, baseline, ratios, target, costs: {} }];
}
