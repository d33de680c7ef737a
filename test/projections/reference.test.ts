import fc from "fast-check";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { derivedByReference, derivedByUs } from "../support/derived.ts";
import { legalLog } from "../support/generated-logs.ts";
import {
  convertedFiles,
  corpusFiles,
  corpusMissing,
  exampleFiles,
} from "../support/logs.ts";
import { runs } from "../support/property-runs.ts";
import { readLog } from "../support/reference-log.ts";

describe("messages, titles and the reference's figures equal the reference's own", () => {
  it.each(exampleFiles().map((file) => [basename(file), file]))(
    "for the example %s",
    (_name, file) => {
      const log = readLog(file);

      expect(derivedByUs(log)).toEqual(derivedByReference(log));
    },
  );

  it("for every recorded and every converted session", ({ skip }) => {
    skip(corpusMissing !== null, corpusMissing ?? "");
    for (const file of [...corpusFiles("A"), ...convertedFiles()]) {
      const log = readLog(file);
      expect(derivedByUs(log), file).toEqual(derivedByReference(log));
    }
  });

  it("for generated sessions with replacements, retries, compactions and inherited prefixes", () => {
    fc.assert(
      fc.property(
        legalLog().filter(({ events }) => events.length > 0),
        (log) => {
          expect(derivedByUs(log)).toEqual(derivedByReference(log));
        },
      ),
      { numRuns: runs(400) },
    );
  });
});
