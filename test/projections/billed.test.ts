import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { usage } from "../../src/projections/usage/projection.ts";
import { billedUsage, type Bill } from "../support/billed-usage.ts";
import { ours } from "../support/derived.ts";
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

/** Sums of the own facts of a log. */
function billedByUs(log: LogLike): Bill {
  const { header, events } = ours(log);
  const rows = pureFold(usage, header, events)["usage"] ?? [];
  const sum = (column: string): number =>
    rows
      .filter((row) => row["inherited"] === false)
      .reduce((total, row) => total + Number(row[column] ?? 0), 0);
  return {
    inputTokens: sum("input_tokens"),
    outputTokens: sum("output_tokens"),
    cacheReadTokens: sum("cache_read_tokens"),
    cacheWriteTokens: sum("cache_write_tokens"),
  };
}

function expectBilled(log: LogLike, name?: string): void {
  const { header } = ours(log);
  expect(billedByUs(log), name).toEqual(
    billedUsage(log.events, header.seedLength ?? 0),
  );
}

describe("billed totals equal a plain reckoning", () => {
  it("for the examples", () => {
    for (const file of exampleFiles()) expectBilled(readLog(file), file);
  });

  it("for every recorded and every converted session", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    for (const file of [...corpusFiles("A"), ...convertedFiles()])
      expectBilled(readLog(file), file);
  });

  it("for generated sessions with replacements, retries, compactions and inherited prefixes", () => {
    fc.assert(
      fc.property(legalLog(), (log) => expectBilled(log)),
      { numRuns: runs(400) },
    );
  });
});
