import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isJsonObject, parseJson } from "../../src/events/json.ts";
import { sessions } from "../../src/projections/sessions/projection.ts";
import { turns } from "../../src/projections/turns/projection.ts";
import { ours } from "../support/derived.ts";
import { foldedRows } from "../support/fold-rows.ts";
import { legalLog } from "../support/generated-logs.ts";
import {
  convertedFiles,
  corpusFiles,
  corpusMissing,
  exampleFiles,
} from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { pureFold } from "../support/pure-fold.ts";
import { readLog, type LogLike } from "../support/reference-log.ts";
import { referenceFold } from "../support/reference.ts";
import { OPENING, STEP_END, turnEnd } from "../support/request-events.ts";

describe("the turns projection", () => {
  it("has a row from the start of a turn on, and completes it at its end", () => {
    const open = foldedRows(turns, "turns", OPENING);
    const ended = foldedRows(turns, "turns", [
      ...OPENING,
      STEP_END,
      turnEnd({ kind: "max-tokens" }),
    ]);

    expect(open).toMatchObject([
      { turn: 1, start_seq: 0, end_seq: null, reason: null, duration_ms: null },
    ]);
    expect(ended).toMatchObject([
      {
        turn: 1,
        start_seq: 0,
        end_seq: 4,
        reason: "max-tokens",
        step_count: 1,
        started_ms: 0,
        duration_ms: 4,
      },
    ]);
  });

  it("leaves a turn that another one begins over open, and tells inherited ones (B054)", () => {
    const [start] = OPENING;
    const rows = foldedRows(turns, "turns", [start ?? {}, start ?? {}], {
      seedLength: 1,
    });

    expect(rows).toMatchObject([
      { start_seq: 0, end_seq: null, inherited: true },
      { start_seq: 1, end_seq: null, inherited: false },
    ]);
  });

  it("cuts times that are too long for an integer", () => {
    const events = [...OPENING, STEP_END, turnEnd({ kind: "completed" })];
    const rows = foldedRows(
      turns,
      "turns",
      events.map((event, at) => ({
        ...event,
        time: at < 2 ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER,
      })),
    );

    expect(rows).toMatchObject([{ duration_ms: Number.MAX_SAFE_INTEGER }]);
  });

  it.each(exampleFiles())(
    "adds up to the reference's session stats: %s",
    (file) => {
      const log = readLog(file);

      expect(sumsOf(log)).toEqual(referenceSums(log));
    },
  );

  it("adds up to the reference's session stats for every recorded and converted session", ({
    skip,
  }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    for (const file of [...corpusFiles("A"), ...convertedFiles()]) {
      const log = readLog(file);
      expect(sumsOf(log), file).toEqual(referenceSums(log));
    }
  });

  it("adds up to the session's row for generated logs", () => {
    fc.assert(
      fc.property(
        legalLog().filter(({ events }) => events.length > 0),
        (log) => {
          expect(sumsOf(log)).toEqual(referenceSums(log));
          const { header, events } = ours(log);
          const [row] = pureFold(sessions, header, events)["sessions"] ?? [];
          expect(pureFold(turns, header, events)["turns"]).toHaveLength(
            Number(row?.["turn_count"]),
          );
        },
      ),
      { numRuns: runs(200) },
    );
  });
});

const COLUMNS = {
  steps: "step_count",
  llmMs: "model_ms",
  toolMs: "tool_ms",
  ttftMs: "first_token_ms",
  ttftSteps: "first_token_steps",
  decodeMs: "decode_ms",
  decodeTokens: "decode_tokens",
} as const;

/** Each figure of the session, from its turns. */
function sumsOf(log: LogLike): object {
  const { header, events } = ours(log);
  const rows = pureFold(turns, header, events)["turns"] ?? [];
  return Object.fromEntries(
    Object.entries(COLUMNS).map(([figure, column]) => [
      figure,
      rows.reduce((sum, row) => sum + Number(row[column]), 0),
    ]),
  );
}

function referenceSums(log: LogLike): object {
  const stats = parseJson(
    JSON.stringify(referenceFold(log.header, log.events).sessionStats),
  );
  return Object.fromEntries(
    Object.keys(COLUMNS).map((figure) => [
      figure,
      isJsonObject(stats) ? stats[figure] : null,
    ]),
  );
}
