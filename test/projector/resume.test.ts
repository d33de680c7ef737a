import { basename } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { builtInProjections } from "../../src/projections/registry.ts";
import type { Projection } from "../../src/projector/projection.ts";
import { ours } from "../support/derived.ts";
import { legalLog } from "../support/generated-logs.ts";
import { exampleFiles } from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { pureFold } from "../support/pure-fold.ts";
import { readLog, type LogLike } from "../support/reference-log.ts";

/** The projection as it is when its state goes to a checkpoint and comes back after every event. */
function restarted(projection: Projection): Projection {
  return {
    ...projection,
    fold(header, initial, sink) {
      let state = initial;
      const again = () => projection.fold(header, state, sink);
      return {
        wantsDeltas: () => again().wantsDeltas(),
        apply(event) {
          const fold = again();
          fold.apply(event);
          state = fold.state();
        },
        state: () => again().state(),
      };
    },
  };
}

/** The state a fold ends in. */
function finalState(projection: Projection, log: LogLike): string {
  const { header, events } = ours(log);
  const fold = projection.fold(header, "", () => undefined);
  for (const event of events) fold.apply({ ...event, sessionId: header.id });
  return fold.state();
}

function expectSameResumed(projection: Projection, log: LogLike): void {
  const { header, events } = ours(log);
  expect(pureFold(restarted(projection), header, events)).toEqual(
    pureFold(projection, header, events),
  );
  expect(finalState(restarted(projection), log)).toBe(
    finalState(projection, log),
  );
}

describe.each(builtInProjections.map((one) => [one.name, one] as const))(
  "the %s fold",
  (_name, projection) => {
    it.each(exampleFiles().map((file) => [basename(file), file]))(
      "goes on from every state of %s",
      (_at, file) => {
        expectSameResumed(projection, readLog(file));
      },
    );

    it("goes on from every state of a generated log", () => {
      fc.assert(
        fc.property(legalLog({ extremeTimes: true }), (log) =>
          expectSameResumed(projection, log),
        ),
        { numRuns: runs(80) },
      );
    });
  },
);
