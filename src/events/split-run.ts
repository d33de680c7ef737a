/** Cuts a run of deltas where it is longer than a row may be. */
import type { CheckedRun } from "./expand-runs.ts";

/** Yields the run itself, or parts of at most `maxEvents` members, in order. */
export function* splitRun(
  run: CheckedRun,
  maxEvents: number,
): Generator<CheckedRun> {
  if (run.eventCount <= maxEvents) {
    yield run;
    return;
  }
  let time0 = run.time0;
  for (let from = 0; from < run.eventCount; from += maxEvents) {
    const texts = run.texts.slice(from, from + maxEvents);
    const gaps = run.gaps.slice(from, from + texts.length - 1);
    yield {
      ...run,
      seq0: run.seq0 + from,
      time0,
      eventCount: texts.length,
      data: { ...run.data, dt: gaps, [run.textsKey]: texts },
      texts,
      gaps,
    };
    for (const gap of run.gaps.slice(from, from + maxEvents)) time0 += gap;
  }
}
