import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLog } from "../support/reference-log.ts";
import { referenceFold, referenceInvariants } from "../support/reference.ts";

const CORPUS = join(import.meta.dirname, "../../../shared/corpus");
const MISSING = `no corpus of recorded sessions at ${CORPUS}`;

/** Names of the files of one class, from the corpus' own index. */
function filesOfClass(letter: string): string[] {
  const rows = readFileSync(join(CORPUS, "INDEX.md"), "utf8").split("\n");
  return rows.flatMap((row) => {
    const [, name = "", , , , kind = ""] = row.split("|");
    return kind.trim().startsWith(`${letter} `) ? [name.trim()] : [];
  });
}

/** What the reference says about a file; "fine" when it finds nothing. */
function verdict(name: string): string {
  const { header, events } = readLog(join(CORPUS, "dsh", name));
  try {
    referenceFold(header, events);
    referenceInvariants(header, events);
    return "fine";
  } catch (error) {
    return String(error);
  }
}

describe("recorded sessions", () => {
  it("of class A are opened by the reference, which finds nothing wrong with them", ({
    skip,
  }) => {
    skip(!existsSync(CORPUS), MISSING);
    const names = filesOfClass("A");
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => verdict(name) !== "fine")).toEqual([]);
  });

  it("of class M are refused for their headers", ({ skip }) => {
    skip(!existsSync(CORPUS), MISSING);
    const verdicts = new Set(filesOfClass("M").map(verdict));
    expect([...verdicts]).toEqual([
      "Error: seed request/header at index 0 lacks provider/model",
    ]);
  });

  it("of class R are refused for chunks outside any turn", ({ skip }) => {
    skip(!existsSync(CORPUS), MISSING);
    const verdicts = new Set(filesOfClass("R").map(verdict));
    expect([...verdicts]).toEqual([
      expect.stringMatching(/assistant\/chunk names turn 1\/step 1 but open/),
    ]);
  });
});
