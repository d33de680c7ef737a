/** How many connections the appends of one process are worth. */
import type { ContenderKind } from "../contenders/contender.ts";
import { turnlogOf } from "../contenders/turnlog.ts";
import { thinnedLog } from "../payloads.ts";
import type { Scenario } from "../scenario.ts";
import { measureThroughput } from "../throughput.ts";

const SIZES = [2, 4, 10, 16, 32];
const WRITERS = 32;

export const poolSizes: Scenario = {
  name: "pool-sizes",
  title: `Append 1 event, ${WRITERS} writers on distinct sessions, by the size of the pool`,
  long: true,
  run: (bench) =>
    measureThroughput(
      { ...bench, windowMs: bench.windowMs / 2 },
      [true, false].flatMap((coalesce) =>
        SIZES.map((size) => withPool(size, coalesce)),
      ),
      { writers: WRITERS, eventsPerAppend: 1, log: thinnedLog(1, 10_000) },
      {
        unit: "events/s",
        better: "higher",
        baseline: nameOf(10, true),
        targets: {},
      },
    ),
};

function withPool(poolSize: number, coalesce: boolean): ContenderKind {
  const kind = turnlogOf(nameOf(poolSize, coalesce), { coalesce });
  return {
    ...kind,
    connect: ({ databaseUrl }) => kind.connect({ databaseUrl, poolSize }),
  };
}

function nameOf(poolSize: number, coalesce: boolean): string {
  return `${poolSize} connections${coalesce ? "" : ", direct"}`;
}
