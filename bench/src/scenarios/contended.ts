/** Many writers in one process append to the end of one session. */
import type { BenchEvent } from "../contenders/contender.ts";
import { plainSql } from "../contenders/plain-sql.ts";
import { turnlog } from "../contenders/turnlog.ts";
import type { Scenario } from "../scenario.ts";
import { measureThroughput } from "../throughput.ts";

export const contended: Scenario = {
  name: "contended",
  title: 'Append 1 event, 16 writers on one session in one process, "any"',
  run: (bench) =>
    measureThroughput(
      bench,
      [plainSql, turnlog],
      { writers: 16, eventsPerAppend: 1, log: notes(1_000), shared: true },
      {
        unit: "events/s",
        better: "higher",
        baseline: "plain SQL",
        targets: { turnlog: 80 },
      },
    ),
};

/** Events that may stand anywhere, so that it doesn't matter whose comes first. They bring no seq of their own. */
function notes(count: number): BenchEvent[] {
  return Array.from({ length: count }, (_, at) => ({
    type: "feedback/record",
    time: 1_767_225_600_000 + at,
    data: { text: `note ${at} ${"of some length ".repeat(5)}` },
  }));
}
