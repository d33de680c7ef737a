/** Appends of one event and of a hundred, by one writer and by many on sessions of their own. */
import type { ContenderKind } from "../contenders/contender.ts";
import { loadPeer } from "../contenders/load-peer.ts";
import { messageDb } from "../contenders/message-db.ts";
import { plainSql } from "../contenders/plain-sql.ts";
import { turnlog } from "../contenders/turnlog.ts";
import type { Load } from "../drive.ts";
import { thinnedLog } from "../payloads.ts";
import type { Scenario } from "../scenario.ts";
import { measureThroughput } from "../throughput.ts";

/** Long enough that no writer needs a second session in a round. */
const SINGLE_EVENTS = 10_000;
const BATCHED_EVENTS = 20_000;

export const appendScenarios: readonly Scenario[] = [
  scenario({ eventsPerAppend: 1, writers: 1 }, 2),
  scenario({ eventsPerAppend: 1, writers: 16 }, 6),
  scenario({ eventsPerAppend: 1, writers: 32 }, 6),
  scenario({ eventsPerAppend: 100, writers: 1 }, 3),
  scenario({ eventsPerAppend: 100, writers: 16 }, 3.5),
];

function scenario(shape: Omit<Load, "log">, target: number): Scenario {
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
        ...(isSingle ? [messageDb] : []),
        plainSql,
      ];
      return measureThroughput(
        bench,
        kinds,
        { ...shape, log },
        {
          unit: "events/s",
          better: "higher",
          baseline: "emmett",
          targets: { turnlog: target },
        },
      );
    },
  };
}
